// Distances learned from must-links and cannot-links: mustlink, compiled to WebAssembly.
const node = (name) => import(/* webpackIgnore: true */ /* @vite-ignore */ `node:${name}`);
const isBytes = (x) => x instanceof ArrayBuffer || ArrayBuffer.isView(x);
const signOf = new Map([["must", 1], [1, 1], ["cannot", -1], [-1, -1]]);
const bytesOf = (x) => new Uint8Array(x.buffer, x.byteOffset, x.byteLength);

let Go; // the class of wasm_exec.js
let running; // the promise of a function that makes calls

export function init(source = new URL("mustlink.wasm", import.meta.url)) {
  running ??= start(source);
  return running.then(() => {}, (error) => {
    running = undefined;
    throw error;
  });
}

// start returns the function that makes calls. When its program ends, which only a lack of memory
// brings about, all its calls fail, and the next fit or load starts another one.
async function start(source) {
  const found = isBytes(source) ? source : await read(new URL(source, globalThis.location?.href));
  const module = isBytes(found) ? await WebAssembly.compile(found) : found;
  globalThis.crypto ??= (await node("crypto")).webcrypto; // Node.js 18 has it there alone
  Go ??= await import("./wasm_exec.js").then(() => globalThis.Go);
  const go = new Go();
  const instance = await WebAssembly.instantiate(module, go.importObject);
  const pending = new Set();
  let end;
  const stop = (error) => {
    const reason = error?.message ?? "out of memory";
    end = new Error(`the program has ended, and its models with it: ${reason}`);
    running = undefined;
    for (const reject of pending) reject(end);
  };
  // promised returns the promise of work, which is rejected when the program ends.
  const promised = (work) => {
    let own;
    return new Promise((resolve, reject) => {
      if (end) throw end;
      pending.add((own = reject));
      work(resolve, reject);
    }).finally(() => pending.delete(own));
  };
  const ready = `mustlink${Math.random()}`; // the program calls this function
  go.argv.push(ready);
  const call = await promised((resolve) => {
    globalThis[ready] = resolve;
    go.run(instance).then(stop, stop);
  }).finally(() => delete globalThis[ready]);
  return (...args) =>
    promised((resolve, reject) => {
      try {
        call(resolve, (message) => reject(new Error(message)), ...args);
      } catch (error) {
        stop(error);
      }
    });
}

async function read(url) {
  if (url.protocol === "file:") return (await node("fs/promises")).readFile(url);
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: status ${response.status}: want the file mustlink.wasm`);
  // Browsers keep the compiled program of a stream, but a stream must have the right type.
  const streams = response.headers.get("content-type")?.startsWith("application/wasm");
  return streams ? WebAssembly.compileStreaming(response) : response.arrayBuffer();
}

// newModel returns the model that a call makes.
async function newModel(...args) {
  await init();
  const call = await running;
  return new Model(call, await call(...args));
}

export async function fit(rows, links, { method = "auto", ...options } = {}) {
  const [data, columns] = flat(rows);
  const list = [...(links ?? [])];
  const signs = Int8Array.from(list, (link, k) => {
    return signOf.get(link?.[2]) ?? fail(`link ${k} is`, link, '[i, j, "must"] or [i, j, "cannot"]');
  });
  const text = JSON.stringify(options, finite);
  return newModel("fit", data, columns, pairsOf("link", list), bytesOf(signs), String(method), text);
}

export async function load(file) {
  if (!isBytes(file)) fail("the model is", file, "the bytes of a model file, a Uint8Array or an ArrayBuffer");
  return newModel("load", bytesOf(ArrayBuffer.isView(file) ? file : new Uint8Array(file)).slice());
}

const abandoned = new FinalizationRegistry((free) => free().catch(() => {}));

class Model {
  #call;

  constructor(call, number) {
    this.#call = (name, ...args) => call(name, number, ...args);
    abandoned.register(this, () => call("free", number), this);
  }

  async embed(rows) {
    const [data, columns, count] = flat(rows);
    const y = new Float64Array((await this.#call("embed", data, columns)).buffer);
    const dim = y.length / count;
    return Array.from({ length: count }, (_, i) => y.subarray(i * dim, (i + 1) * dim));
  }

  async distances(rows, pairs) {
    const [data, columns] = flat(rows);
    return new Float64Array((await this.#call("distances", data, columns, pairsOf("pair", [...pairs]))).buffer);
  }

  info = async () => JSON.parse(await this.#call("info"));
  bytes = () => this.#call("bytes");

  async free() {
    abandoned.unregister(this);
    await this.#call("free");
  }
}

// flat returns a copy of the rows as bytes of float64, and the numbers of columns and rows.
function flat(rows) {
  if (rows?.data instanceof Float64Array) {
    const { data, columns } = rows;
    if (!(columns > 0) || data.length % columns) fail("columns is", columns, `a divisor of ${data.length}`);
    return [bytesOf(data.slice()), columns, data.length / columns];
  }
  if (!Array.isArray(rows)) fail("the rows are", rows, "an array of arrays, or { data: Float64Array, columns }");
  const columns = rows[0]?.length ?? 0;
  const data = new Float64Array(rows.length * columns);
  for (const [i, row] of rows.entries()) {
    if (row?.length !== columns) fail(`length of row ${i} is`, row?.length, `${columns}, the length of row 0`);
    for (let j = 0; j < columns; j++) {
      if (typeof row[j] !== "number") fail(`row ${i}, column ${j} is`, row[j], "a number, NaN if it is missing");
      data[i * columns + j] = row[j];
    }
  }
  return [bytesOf(data), columns, rows.length];
}

// pairsOf returns the rows of pairs as bytes of int64.
function pairsOf(what, pairs) {
  const rows = pairs.flatMap((pair, k) => {
    const whole = Number.isSafeInteger(pair?.[0]) && Number.isSafeInteger(pair[1]);
    return whole ? [pair[0], pair[1]] : fail(`${what} ${k} is`, pair, "two numbers of rows");
  });
  return bytesOf(BigInt64Array.from(rows, BigInt));
}

// finite keeps JSON from writing null for what is no number.
function finite(key, value) {
  if (ArrayBuffer.isView(value)) return Array.from(value);
  const bad = typeof value === "number" ? !Number.isFinite(value) : Array.isArray(this) && value == null;
  return bad ? fail(`options: ${key} is`, value, "a finite number") : value;
}

function fail(what, value, want) {
  const text = value && typeof value !== "number" ? JSON.stringify(value) : String(value);
  throw new Error(`${what} ${text?.length > 40 ? `${text.slice(0, 40)}...` : text}: want ${want}`);
}
