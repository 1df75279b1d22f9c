// Compares the cells of Parquet and Arrow files, as the library reads them, with what DuckDB reads.
//
//     node compare.mjs CELLS MODULES FOLDER [CASES...]
//
// CELLS is the program of this folder; MODULES has @duckdb/node-api, nodejs-polars, parquet-wasm and
// apache-arrow of npm. FOLDER gets files that they write, with a column for each type of
// docs/formats.md; CASES are folders of files of others. Each line of the table is a file: its cells
// are the same, or the library refuses it in one line. Anything else is a silent difference, and the
// exit code is 1.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'

const [program, modules, folder, ...cases] = process.argv.slice(2)
const require = createRequire(join(modules, 'node_modules/'))
const { DuckDBInstance } = require('@duckdb/node-api')
const polars = require('nodejs-polars')
const arrow = require('apache-arrow')
const wasm = require('parquet-wasm/node')
const connection = await (await DuckDBInstance.create()).connect()
const query = async (sql) => (await connection.runAndReadAll(sql)).getRows()

// The types that DuckDB writes, with an expression of a row number k.
const TYPES = {
  TINYINT: '(k % 100)::TINYINT', UTINYINT: '(k % 200)::UTINYINT', SMALLINT: '(k - 20)::SMALLINT',
  USMALLINT: 'k::USMALLINT', INTEGER: '(k * 1000)::INTEGER', UINTEGER: 'k::UINTEGER', BIGINT: '(k << 40)::BIGINT',
  UBIGINT: '(k << 30)::UBIGINT', HUGEINT: 'k::HUGEINT', FLOAT: '(k / 7)::FLOAT', DOUBLE: '(k / 7)::DOUBLE',
  DECIMAL4: '(k / 4)::DECIMAL(4, 2)', DECIMAL18: '(k / 4)::DECIMAL(18, 3)', DECIMAL38: '(k / 4)::DECIMAL(38, 10)',
  BOOLEAN: '(k % 3 = 0)::BOOLEAN', VARCHAR: "('text ' || (k % 5))::VARCHAR", UUID: "md5(k::VARCHAR)::UUID",
  DATE: "(DATE '2020-01-31' + k::INTEGER)::DATE", TIME: "(TIME '01:02:03.5' + INTERVAL (k) MINUTE)::TIME",
  TIMESTAMP: "(TIMESTAMP '2020-01-31 01:02:03.25' + INTERVAL (k) HOUR)::TIMESTAMP",
  TIMESTAMP_S: "(TIMESTAMP '2020-01-31 01:02:03' + INTERVAL (k) HOUR)::TIMESTAMP_S",
  TIMESTAMP_MS: "(TIMESTAMP '2020-01-31 01:02:03.25' + INTERVAL (k) HOUR)::TIMESTAMP_MS",
  TIMESTAMP_NS: "(TIMESTAMP '2020-01-31 01:02:03.25' + INTERVAL (k) HOUR)::TIMESTAMP_NS",
  TIMESTAMPTZ: "(TIMESTAMPTZ '2020-01-31 01:02:03.25+00' + INTERVAL (k) HOUR)::TIMESTAMPTZ",
  ENUM: "(['lo', 'mid', 'hi'][1 + k % 3])::ENUM('lo', 'mid', 'hi')", JSON: "('{\"a\":' || k || '}')::JSON",
  LIST: '[k / 4, k, 2.5]::DOUBLE[]', ARRAY: '[k, 2 * k]::FLOAT[2]', STRUCT: "{'p': k, 'q': k / 2}::STRUCT(p INTEGER, q DOUBLE)",
}
const COMPRESSIONS = ['uncompressed', 'snappy', 'gzip', 'zstd', 'lz4_raw', 'brotli']

// byArrow returns the columns of an Arrow file as apache-arrow reads it.
function byArrow(path) {
  const out = new Map()
  const table = arrow.tableFromIPC(readFileSync(path))
  for (const { name } of table.schema.fields) {
    const vector = table.getChild(name)
    const type = String(vector.type)
    const cells = [...Array(vector.length).keys()].map((i) => vector.get(i))
    const set = (name, of) => out.set(name, { type, cells: cells.map((v) => (v === null ? null : of(v))) })
    if (/List/.test(type)) {
      for (let k = 0; k < (cells[0]?.length ?? 0); k++) set(`${name}.${k}`, (list) => list.get(k))
    } else {
      set(name, /^(Date|Timestamp)/.test(type) ? (v) => BigInt(Math.round(Number(v))) : (v) => v)
    }
  }
  return out
}

// writeAll writes the files of FOLDER.
async function writeAll() {
  mkdirSync(folder, { recursive: true })
  const at = (name) => join(folder, name).replaceAll("'", "''")
  for (const [type, of] of Object.entries(TYPES)) {
    for (const [name, some] of [['', of], ['-null', `CASE WHEN k % 4 = 1 THEN NULL ELSE ${of} END`]]) {
      if (name && (type === 'LIST' || type === 'ARRAY')) continue // a list that is missing has no length
      await query(`COPY (SELECT k::DOUBLE AS x, ${some} AS v FROM range(40) t(k)) TO '${at(`duck-${type}${name}.parquet`)}'`)
    }
  }
  await query(`COPY (SELECT k::DOUBLE AS x, NULL::INTEGER AS v FROM range(40) t(k)) TO '${at('duck-empty.parquet')}'`)
  await query(`COPY (SELECT 'r' || k AS id, 'c' || (k % 2) AS label, k AS x FROM range(40) t(k)) TO '${at('duck-names.parquet')}'`)
  for (const c of COMPRESSIONS) {
    await query(`COPY (SELECT k::DOUBLE AS x, 'text ' || (k % 5) AS v FROM range(40) t(k)) TO '${at(`duck-${c}.parquet`)}' (COMPRESSION ${c})`)
  }
  await query(`COPY (SELECT k::DOUBLE AS x, k // 3 AS v FROM range(9000) t(k)) TO '${at('duck-groups.parquet')}' (ROW_GROUP_SIZE 2048)`)
  await query(`COPY (SELECT k::DOUBLE AS x, 'text ' || (k % 5) AS v FROM range(40) t(k)) TO '${at('duck-v2.parquet')}' (PARQUET_VERSION v2)`)
  const k = [...Array(40).keys()]
  const frame = polars.DataFrame({
    x: k.map((i) => i / 7), text: k.map((i) => (i % 4 === 1 ? null : 'text ' + (i % 5))), flag: k.map((i) => i % 3 === 0),
    whole: k.map((i) => (i % 4 === 1 ? null : i)), when: k.map((i) => new Date(Date.UTC(2020, 0, 31, i))),
    empty: k.map(() => null),
  })
  for (const c of ['uncompressed', 'snappy', 'gzip', 'zstd', 'lz4']) {
    frame.writeParquet(join(folder, `polars-${c}.parquet`), { compression: c })
  }
  const table = arrow.tableFromArrays({
    x: Float64Array.from(k, (i) => i / 7), single: Float32Array.from(k, (i) => i / 8), byte: Uint8Array.from(k),
    whole: Int32Array.from(k, (i) => 1000 * i), text: k.map((i) => 'text ' + (i % 5)),
  })
  for (const c of ['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'ZSTD', 'LZ4_RAW']) {
    const properties = new wasm.WriterPropertiesBuilder().setCompression(wasm.Compression[c]).build()
    const bytes = wasm.writeParquet(wasm.Table.fromIPCStream(arrow.tableToIPC(table, 'stream')), properties)
    writeFileSync(join(folder, `wasm-${c}.parquet`), bytes)
  }
}

// columnsOf returns the columns of a file as DuckDB reads it, with the names and values of ours.
async function columnsOf(path) {
  const from = `read_parquet('${path.replaceAll("'", "''")}')`
  const out = new Map()
  const add = async (name, type, of) => {
    const list = /^(\w+.*)\[(\d*)\]$/.exec(type)
    const fields = /^STRUCT\((.*)\)$/.exec(type)
    if (list) {
      const [[n]] = await query(`SELECT max(len(${of})) FROM ${from}`)
      for (let i = 0; i < Number(n); i++) await add(`${name}.${i}`, list[1], `${of}[${i + 1}]`)
      return
    }
    if (fields) {
      for (const f of fields[1].matchAll(/(?:^|, )"?(\w+)"? (\w+(?:\([^)]*\))?)/g)) {
        await add(`${name}.${f[1]}`, f[2], `struct_extract(${of}, '${f[1]}')`)
      }
      return
    }
    let value = `CAST(${of} AS VARCHAR)`
    if (/^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*)$/.test(type)) value = `CAST(${of} AS DOUBLE)`
    else if (/^TIMESTAMP/.test(type)) value = `epoch_ms(CAST(${of} AS TIMESTAMP))`
    else if (type === 'BLOB') value = `decode(${of})`
    out.set(name, { type, cells: (await query(`SELECT ${value} FROM ${from}`)).map((row) => row[0]) })
  }
  for (const [name, type] of await query(`DESCRIBE SELECT * FROM ${from}`)) {
    await add(name, type, `"${name.replaceAll('"', '""')}"`)
  }
  return out
}

// same compares a cell with that of DuckDB.
function same(ours, theirs, type) {
  if (ours === null) return theirs === null || Number.isNaN(theirs)
  if (theirs === null) return false
  const clock = /^Time(64|32)<(\w+)>/.exec(type)
  if (clock) {
    const [h, m, s] = ours.split(':').map(Number)
    return Math.abs(3600 * h + 60 * m + s - Number(theirs) / { SECOND: 1, MILLISECOND: 1e3, MICROSECOND: 1e6, NANOSECOND: 1e9 }[clock[2]]) < 1e-9
  }
  if (typeof theirs === 'bigint') return typeof ours === 'string' ? BigInt(Date.parse(ours)) === theirs : ours === Number(theirs)
  if (type.startsWith('TIME') && typeof ours === 'string') return ours.replace(/\.?0*$/, '') === String(theirs).replace(/\.?0*$/, '')
  return typeof ours === 'number' ? ours === Number(theirs) || Math.abs(ours - theirs) <= 1e-15 * Math.abs(ours) : ours === String(theirs).trim()
}

// verdict returns "same", what the library says, or "SILENT" with the first difference.
function verdict(ours, theirs) {
  if (ours.error) return 'error: ' + ours.error.split(': ').slice(1).join(': ').slice(0, 110)
  if (theirs === null) return 'read, and the other does not'
  for (const [name, { type, cells }] of theirs) {
    const mine = ours.columns[name]
    if (mine === undefined || mine.length !== cells.length) return `SILENT: column ${name}: ${mine?.length} cells for ${cells.length}`
    const i = mine.findIndex((cell, k) => !same(cell, cells[k], type))
    if (i >= 0) return `SILENT: column ${name} (${type}), row ${i}: ${JSON.stringify(mine[i])} for ${String(cells[i])}`
  }
  const more = Object.keys(ours.columns).find((name) => !theirs.has(name))
  return more === undefined ? 'same' : `SILENT: column ${more} is of no column`
}

await writeAll()
const paths = [folder, ...cases].flatMap((at) => readdirSync(at).filter((name) => /\.(parquet|arrow)$/.test(name)).sort()
  .map((name) => join(at, name)))
let silent = 0
console.log('file\tverdict')
for (const line of execFileSync(program, paths, { encoding: 'utf8', maxBuffer: 1 << 28 }).trim().split('\n')) {
  const ours = JSON.parse(line)
  const read = ours.file.endsWith('.arrow') ? async () => byArrow(ours.file) : () => columnsOf(ours.file)
  const text = verdict(ours, await read().catch(() => null))
  silent += text.startsWith('SILENT') ? 1 : 0
  console.log(`${basename(ours.file)}\t${text}`)
}
console.log(`${paths.length} files, ${silent} silent differences`)
process.exitCode = silent > 0 ? 1 : 0
