// Distances learned from must-links and cannot-links: mustlink, compiled to WebAssembly.
import "./wasm_exec.js";

const Go = globalThis.Go;

// An instance of the program, whose calls are promises. When it ends, which only a lack of memory
// brings about, all of its calls fail, and the next fit or load starts another one.
class Instance {
  #functions;
  #pending = new Set();
  #end;

  async start(module) {
    const go = new Go();
    const name = `mustlink${Math.random()}`; // what the program calls when it is ready
    go.argv.push(name);
    const instance = await WebAssembly.instantiate(module, go.importObject);
    this.#functions = await new Promise((resolve, reject) => {
      this.#pending.add(reject);
      globalThis[name] = resolve;
      go.run(instance).then(() => this.#stop(), (error) => this.#stop(error));
    });
    this.#pending.clear();
    delete globalThis[name];
    return this;
  }

  #stop(error) {
    const reason = error?.message ?? "out of memory";
    this.#end = new Error(`the instance of WebAssembly has ended, and its models with it: ${reason}`);
    running = undefined;
    for (const reject of this.#pending) reject(this.#end);
  }

  call(name, ...args) {
    let settle;
    return new Promise((resolve, reject) => {
      if (this.#end) throw this.#end;
      this.#pending.add((settle = reject));
      try {
        this.#functions[name](resolve, (message) => reject(new Error(message)), ...args);
      } catch (error) {
        this.#stop(error);
      }
    }).finally(() => this.#pending.delete(settle));
  }
}

let running; // the promise of the instance

export function init(source = new URL("mustlink.wasm", import.meta.url)) {
  running ??= read(source)
    .then((from) => (ArrayBuffer.isView(from) || from instanceof ArrayBuffer ? WebAssembly.compile(from) : from))
    .then((module) => new Instance().start(module))
    .catch((error) => {
      running = undefined;
      throw error;
    });
  return running;
}

async function read(source) {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return source;
  const url = new URL(source, globalThis.location?.href);
  if (url.protocol === "file:") {
    const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:fs/promises");
    globalThis.crypto ??= (await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:crypto")).webcrypto;
    return readFile(url);
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: status ${response.status}: want the file mustlink.wasm`);
  // Browsers keep the compiled program of a stream, but a stream needs the right type.
  const streams = response.headers.get("content-type")?.startsWith("application/wasm");
  return streams ? WebAssembly.compileStreaming(response) : response.arrayBuffer();
}

export async function fit(rows, links, { method = "auto", ...options } = {}) {
  const [data, columns] = flat(rows);
  const list = [...(links ?? [])];
  const signs = new Int8Array(list.length);
  list.forEach((link, k) => {
    signs[k] = link?.[2] === "must" || link?.[2] === 1 ? 1 : link?.[2] === "cannot" || link?.[2] === -1 ? -1 : 0;
    if (!signs[k]) throw new Error(`link ${k} is ${shown(link)}: want [i, j, "must"] or [i, j, "cannot"]`);
  });
  const pairs = numbered("link", list);
  const text = JSON.stringify(options, checked);
  const instance = await init();
  return new Model(instance, await instance.call("fit", data, columns, pairs, bytesOf(signs), String(method), text));
}

export async function load(bytes) {
  if (!(bytes instanceof ArrayBuffer) && !ArrayBuffer.isView(bytes)) {
    throw new Error(`the model is ${shown(bytes)}: want the bytes of a model file, as a Uint8Array or an ArrayBuffer`);
  }
  const copy = bytesOf(ArrayBuffer.isView(bytes) ? bytes : new Uint8Array(bytes)).slice();
  const instance = await init();
  return new Model(instance, await instance.call("load", copy));
}

const abandoned = new FinalizationRegistry(([instance, number]) => instance.call("free", number).catch(() => {}));

class Model {
  #instance;
  #number;

  constructor(instance, number) {
    this.#instance = instance;
    this.#number = number;
    abandoned.register(this, [instance, number], this);
  }

  async embed(rows) {
    const [data, columns, count] = flat(rows);
    const y = new Float64Array((await this.#instance.call("embed", this.#number, data, columns)).buffer);
    const dim = y.length / count;
    return Array.from({ length: count }, (_, i) => y.subarray(i * dim, (i + 1) * dim));
  }

  async distances(rows, pairs) {
    const [data, columns] = flat(rows);
    const list = numbered("pair", [...pairs]);
    return new Float64Array((await this.#instance.call("distances", this.#number, data, columns, list)).buffer);
  }

  async info() {
    return JSON.parse(await this.#instance.call("info", this.#number));
  }

  bytes() {
    return this.#instance.call("bytes", this.#number);
  }

  free() {
    abandoned.unregister(this);
    return this.#instance.call("free", this.#number);
  }
}

// flat returns a copy of the rows as bytes of float64, and the numbers of columns and rows.
function flat(rows) {
  if (rows?.data instanceof Float64Array && Number.isInteger(rows.columns) && rows.columns > 0) {
    const { data, columns } = rows;
    if (data.length % columns) throw new Error(`data has ${data.length} numbers: want a multiple of ${columns}, the columns`);
    return [bytesOf(data.slice()), columns, data.length / columns];
  }
  if (!Array.isArray(rows)) throw new Error(`the rows are ${shown(rows)}: want an array of arrays, or {data, columns}`);
  const columns = rows[0]?.length ?? 0;
  const data = new Float64Array(rows.length * columns);
  rows.forEach((row, i) => {
    if (row?.length !== columns) throw new Error(`length of row ${i} is ${row?.length}: want ${columns}, the length of row 0`);
    for (let j = 0; j < columns; j++) {
      if (typeof row[j] !== "number") throw new Error(`row ${i}, column ${j} is ${shown(row[j])}: want a number, NaN if it is missing`);
      data[i * columns + j] = row[j];
    }
  });
  return [bytesOf(data), columns, rows.length];
}

// numbered returns the rows of pairs as bytes of int64.
function numbered(what, pairs) {
  const out = new BigInt64Array(2 * pairs.length);
  pairs.forEach((pair, k) => {
    for (const side of [0, 1]) {
      if (!Number.isSafeInteger(pair?.[side])) throw new Error(`${what} ${k} is ${shown(pair)}: want two numbers of rows`);
      out[2 * k + side] = BigInt(pair[side]);
    }
  });
  return bytesOf(out);
}

// checked keeps JSON from writing as null what is no number.
function checked(key, value) {
  if (ArrayBuffer.isView(value)) return Array.from(value);
  if ((typeof value === "number" && !Number.isFinite(value)) || (Array.isArray(this) && value == null)) {
    throw new Error(`options: ${key} is ${value}: want a finite number`);
  }
  return value;
}

const bytesOf = (x) => new Uint8Array(x.buffer, x.byteOffset, x.byteLength);

const shown = (value) => {
  const text = typeof value === "object" && value ? JSON.stringify(value) : typeof value === "string" ? `"${value}"` : String(value);
  return text.length > 40 ? `${text.slice(0, 40)}...` : text;
};
