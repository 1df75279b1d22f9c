// Evaluates ONNX graphs with onnxruntime. Its argument is a folder with jobs.json, a list of
// {model, single, x, columns, texts, rows, y}: x and y are files of numbers in the byte order of the
// machine, texts are rows of texts.
const fs = require('fs')
const path = require('path')
const ort = require(path.join(process.env.MUSTLINK_ONNXRUNTIME, 'node_modules', 'onnxruntime-node'))

async function run(folder, job) {
  const session = await ort.InferenceSession.create(path.join(folder, job.model), { intraOpNumThreads: 1, logSeverityLevel: 3 })
  const feeds = {}
  if (job.columns > 0) {
    const bytes = fs.readFileSync(path.join(folder, job.x))
    const memory = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)
    feeds.x = job.single
      ? new ort.Tensor('float32', new Float32Array(memory), [job.rows, job.columns])
      : new ort.Tensor('float64', new Float64Array(memory), [job.rows, job.columns])
  }
  if (job.texts) feeds.texts = new ort.Tensor('string', job.texts.flat(), [job.rows, job.texts[0].length])
  const { coordinates } = await session.run(feeds)
  fs.writeFileSync(path.join(folder, job.y), Buffer.from(coordinates.data.buffer, coordinates.data.byteOffset, coordinates.data.byteLength))
  await session.release()
}

async function main(folder) {
  const jobs = JSON.parse(fs.readFileSync(path.join(folder, 'jobs.json')))
  for (const job of jobs) {
    try {
      await run(folder, job)
    } catch (error) {
      console.log(`${job.model}: ${error.message}`)
      process.exitCode = 1
    }
  }
}

main(process.argv[2])
