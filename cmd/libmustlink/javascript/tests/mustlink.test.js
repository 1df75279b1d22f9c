// Tests of the package in the folder MUSTLINK_PACKAGE, against the command MUSTLINK_COMMAND.
import assert from "node:assert/strict";
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";

const { MUSTLINK_PACKAGE: folder, MUSTLINK_COMMAND: command } = process.env;
const address = pathToFileURL(join(folder, "mustlink.js")).href;
const { fit, init, load } = await import(address);
const scratch = mkdtempSync(join(tmpdir(), "mustlink-"));
after(() => rmSync(scratch, { recursive: true }));
const file = (name) => join(scratch, name);
const run = (program, args) =>
  execFileSync(program, args, { cwd: scratch, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

// twoMoons returns rows of two half circles with noise, and links of some of them.
function twoMoons(n) {
  let state = 7;
  const random = () => (state = (state * 16807) % 2147483647) / 2147483647;
  const rows = Array.from({ length: n }, (_, i) => {
    const t = Math.PI * random();
    const [x, y] = i % 2 ? [1 - Math.cos(t), 0.5 - Math.sin(t)] : [Math.cos(t), Math.sin(t)];
    return [x + 0.2 * random(), y + 0.2 * random()];
  });
  const links = Array.from({ length: n / 2 }, (_, k) => {
    const j = n / 2 + ((7 * k + (k >> 1)) % (n / 2));
    return [k, j, (k - j) % 2 ? "cannot" : "must"];
  });
  return { rows, links };
}

const { rows, links } = twoMoons(120);
const csv = (header, list) => [header, ...list.map((row) => row.join())].join("\n") + "\n";
writeFileSync(file("rows.csv"), csv("x,y", rows));
writeFileSync(file("links.csv"), csv("i,j,link", links));
const numbers = (name) => {
  const lines = readFileSync(file(name), "utf8").trim().split("\n").slice(1);
  return lines.map((line) => line.split(",").map(Number));
};

// close compares coordinates, relative to the largest.
function close(got, want, tolerance) {
  assert.deepEqual(got.map((row) => row.length), want.map((row) => row.length));
  const largest = Math.max(...want.flat().map(Math.abs));
  want.forEach((row, i) => row.forEach((v, j) => {
    assert(Math.abs(got[i][j] - v) <= tolerance * largest, `row ${i}, column ${j}: ${got[i][j]}, want ${v}`);
  }));
}

test("fits and models equal those of the command", async () => {
  const methods = ["auto", "krca", "lleratio", "npkl", "itml", "rca"];
  // The terms of a blend are thousands of times as large as its coordinates.
  const tolerance = (method) => (method === "auto" ? 1e-8 : 1e-9);
  await Promise.all(methods.map(async (method) => { // calls at the same time
    const model = file(`${method}.mlk`);
    const chosen = method === "auto" ? [] : ["-m", method];
    run(command, ["fit", "-q", "--no-verdict", ...chosen, "-i", "rows.csv", "-c", "links.csv", "-o", model]);
    run(command, ["embed", "-q", model, "-i", "rows.csv", "-o", `${method}.csv`]);
    const want = numbers(`${method}.csv`);
    const own = await fit(rows, links, { method, features: ["x", "y"] });
    close(await own.embed(rows), want, tolerance(method));
    close(await own.embed({ data: new Float64Array(rows.flat()), columns: 2 }), want, tolerance(method));

    close(await (await load(readFileSync(model))).embed(rows), want, 1e-12);
    writeFileSync(file(`${method}-own.mlk`), await own.bytes());
    run(command, ["embed", "-q", `${method}-own.mlk`, "-i", "rows.csv", "-o", `${method}-own.csv`]);
    close(numbers(`${method}-own.csv`), (await own.embed(rows)).map((row) => [...row]), 1e-12);
  }));
});

test("distances are those between coordinates, and of no row from itself", async () => {
  const model = await fit(rows, links, { method: "lleratio", seed: 3, params: { alpha: 0.1 } });
  const { dim, input_dim, method, converged } = await model.info();
  assert.deepEqual([input_dim, method, converged], [2, "lleratio", true]);
  const y = await model.embed(rows);
  assert.equal(y[0].length, dim);
  const pairs = [[0, 1], [5, 90], [7, 7]];
  const d = await model.distances(rows, pairs);
  pairs.forEach(([i, j], k) => {
    const want = Math.hypot(...y[i].map((v, c) => v - y[j][c]));
    assert(Math.abs(d[k] - want) < 1e-9 * (1 + want) && (i === j) === (d[k] === 0), `${d[k]}, want ${want}`);
  });
});

test("bad input is an Error that names it", async () => {
  const model = await fit(rows, links, { method: "krca" });
  const freed = await load(await model.bytes());
  await freed.free();
  const bytes = await model.bytes();
  const damaged = bytes.slice();
  damaged[bytes.length >> 1] ^= 255;
  const many = { data: new Float64Array(20000).map((_, i) => Math.sin(i)), columns: 1 };
  for (const [call, want] of [
    [() => fit([[1, 2], [3]], links), /length of row 1 is 1: want 2, the length of row 0/],
    [() => fit([[1, 2], [3, "4"]], links), /row 1, column 1 is "4": want a number/],
    [() => fit([[1, 2], [3, null]], links), /row 1, column 1 is null: want a number/],
    [() => fit([[1, 2], [3, Infinity]], [[0, 1, "must"]]), /Inf.*row 1|row 1.*Inf/],
    [() => fit("rows", links), /rows are "rows": want an array/],
    [() => fit({ data: new Float64Array(3), columns: 2 }, links), /columns is 2: want a divisor of 3/],
    [() => fit([], []), /number of points is 0: want 2 or more/],
    [() => fit(rows, [[0, 1, "maybe"]]), /link 0 is \[0,1,"maybe"\]: want/],
    [() => fit(rows, [[0, 1, "constructor"]]), /link 0 is .*: want/],
    [() => fit(rows, [[0, 1.5, "must"]]), /link 0 is \[0,1.5,"must"\]: want two numbers of rows/],
    [() => fit(rows, [[0, 2 ** 40, "must"]]), /1099511627776/],
    [() => fit(rows, [[-1, 2, "must"]]), /-1/],
    [() => fit(rows, [[2, 2, "must"]]), /2/],
    [() => fit(rows, [[0, 1, "must"], [1, 0, "cannot"]]), /0.*1/],
    [() => fit(rows, links, { method: "kcra" }), /kcra.*krca/],
    [() => fit(rows, links, { metod: "krca" }), /options: unknown field "metod"/],
    [() => fit(rows, links, { method: "krca", params: { dims: -1 } }), /dims/],
    [() => fit(rows, links, { seed: 1.5 }), /seed/],
    [() => fit(rows, links, { method: "mlkr", targets: [1, NaN] }), /options: 1 is NaN: want a finite number/],
    [() => fit(many, [[0, 1, "must"]], { method: "kpca" }), /kernel matrix 20000 x 20000 needs 3.0 GiB, limit 1.0 GiB/],
    [() => load("model.mlk"), /the model is "model.mlk": want the bytes/],
    [() => load(new Uint8Array(100)), /model/],
    [() => load(bytes.slice(0, 1000)), /model/],
    [() => load(damaged), /damaged|checksum|model/],
    [() => model.embed([[1, 2, 3]]), /3.*want 2/],
    [() => model.embed([[1, Infinity]]), /Inf/],
    [() => model.distances(rows, [[0, 120]]), /120/],
    [() => model.distances(rows, [[0]]), /pair 0 is \[0\]: want two numbers of rows/],
    [() => freed.embed(rows), /not a model: want one that exists and was not freed/],
  ]) {
    await assert.rejects(call, (error) => error instanceof Error && (assert.match(error.message, want), true), `${call}`);
  }
  assert.equal((await model.embed(rows)).length, 120); // the same instance goes on
});

test("a panic is an Error, and the instance goes on", async () => {
  const model = await fit(rows, links, { method: "rca" });
  const original = globalThis.Uint8Array;
  globalThis.Uint8Array = function (...args) { // memory is viewed; the Go program gets no new array
    if (args.length > 1) return new original(...args);
    throw new Error("no more arrays");
  };
  const broken = model.bytes();
  globalThis.Uint8Array = original;
  await assert.rejects(broken, /internal error, please report it: .*no more arrays/);
  assert((await model.bytes()).length > 100);
});

test("without memory the calls fail, and the next fit has another instance", () => {
  writeFileSync(file("memory.mjs"), `
    import { fit } from ${JSON.stringify(address)};
    const rows = (n) => Array.from({ length: n }, (_, i) => [Math.sin(i), Math.cos(i * i)]);
    const small = await fit(rows(20), [[0, 1, "must"]]);
    const words = [];
    await fit(rows(3000), [[0, 1, "must"]], { method: "kpca" }).catch((error) => words.push(error.message));
    await small.embed(rows(2)).catch((error) => words.push(error.message));
    words.push((await (await fit(rows(20), [[0, 1, "must"]])).embed(rows(2))).length);
    process.stderr.write(JSON.stringify(words));`);
  const script = `${process.execPath} --wasm-max-mem-pages=600 memory.mjs 2>&1 >/dev/null`;
  const [first, second, count] = JSON.parse(run("sh", ["-c", script]).split("\n").pop());
  assert.match(first, /the program has ended/);
  assert.equal(first, second);
  assert.equal(count, 2);
});

test("a bad program is an Error, and the next start succeeds", () => {
  writeFileSync(file("start.mjs"), `
    import { fit, init } from ${JSON.stringify(address)};
    const words = [];
    for (const source of ["file:///none.wasm", new Uint8Array(9)]) {
      await init(source).catch((error) => words.push(error.message));
    }
    await init(${JSON.stringify(pathToFileURL(join(folder, "mustlink.wasm")).href)});
    words.push((await (await fit([[1], [2], [4]], [[0, 1, "must"]])).embed([[3]])).length);
    console.log(JSON.stringify(words));`);
  const [absent, broken, count] = JSON.parse(run(process.execPath, ["start.mjs"]));
  assert.match(absent, /none\.wasm/);
  assert.match(broken, /magic/);
  assert.equal(count, 1);
});

test("the packed package runs the example of docs/javascript.md", () => {
  const packed = JSON.parse(run("npm", ["pack", folder, "--json", "--offline"]))[0];
  for (const name of ["mustlink.js", "mustlink.d.ts", "mustlink.wasm", "wasm_exec.js", "LICENSE", "README.md"]) {
    assert(packed.files.some((f) => f.path === name), `no ${name} in the package`);
  }
  mkdirSync(file("node_modules/mustlink"), { recursive: true });
  run("tar", ["-xzf", packed.filename, "--strip-components=1", "-C", "node_modules/mustlink"]);
  const page = readFileSync(new URL("../../../../docs/javascript.md", import.meta.url), "utf8");
  const [, example, output] = page.match(/```js\n(.*?)```\n.*?```text\n(.*?)```/s);
  writeFileSync(file("example.mjs"), example);
  assert.equal(run(process.execPath, ["example.mjs"]), output);
});

const browser = ["chromium", "chromium-browser", "google-chrome"].find((name) => !spawnSync(name, ["--version"]).error);

test("the page of two moons learns in a browser", { skip: !browser && "there is no Chromium" }, async () => {
  const types = { html: "text/html", js: "text/javascript", wasm: "application/wasm" };
  const server = createServer((request, response) => {
    response.setHeader("Content-Type", types[request.url.split(".").pop()] ?? "text/plain");
    response.end(readFileSync(join(folder, request.url)));
  }).listen(0, "127.0.0.1");
  await new Promise((ready) => server.on("listening", ready));
  const options = ["--headless=new", "--no-sandbox", "--disable-gpu", `--user-data-dir=${file("browser")}`,
    "--virtual-time-budget=100000", "--dump-dom", `http://127.0.0.1:${server.address().port}/examples/moons.html`];
  try {
    const page = await new Promise((done, failed) =>
      execFile(browser, options, (error, text) => (error ? failed(error) : done(text))));
    assert.match(page, /<span id="status"[^>]*>learned in \d+ ms</);
  } finally {
    server.close();
  }
});
