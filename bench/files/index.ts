import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressOf, stopProcess } from '../compare/process.ts'
import { median } from '../compare/summary.ts'
import { KEY, startServer } from '../hosts/server.ts'

/**
 * Files: a large one up and down beside a bare Node pipe with SHA-256 in the same run, the memory that it takes, and small
 * files a second. `BENCH_GB=5 BENCH_ROUNDS=3 npm run bench -- files`. All bytes are written to the disk and synced.
 */
const SIZE = Number(process.env.BENCH_GB ?? 5) * 1e9
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3)
const SMALL = Number(process.env.BENCH_SMALL ?? 5_000)
const SENDERS = 64
const CHUNK = randomBytes(1_048_576)

const server = await startServer(0)
const folder = mkdtempSync(join(tmpdir(), 'tildebase-bench-pipe-'))
const child = spawn(process.execPath, [join(import.meta.dirname, 'pipe.ts'), folder], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
try {
  const pipe = await addressOf(child)
  const [core] = cpus()
  console.log(`${cpus().length} × ${core?.model}, Node ${process.version}, load ${loadavg()[0]!.toFixed(1)}`)
  await server.ask('PUT', '/~bench/schema/Deal', { contract: 'file' })
  const { $id } = await (
    await fetch(`${server.url}/~bench/Deal`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: '{"name": "Engine"}',
    })
  ).json()
  const deal = `${server.url}/~bench/Deal/${$id}/contract`
  // The first of each warms the code.
  for (const url of [pipe, deal]) await up(url, 50e6).then(() => down(url))
  const before = server.rss()
  server.resetPeak()
  const speeds = { up: [] as number[][], down: [] as number[][] }
  for (let round = 0; round < ROUNDS; round++) {
    speeds.up.push([await up(pipe, SIZE), await up(deal, SIZE)])
    speeds.down.push([await down(pipe), await down(deal)])
  }
  for (const [way, rounds] of Object.entries(speeds)) {
    const [bare, ours] = [0, 1].map((n) => median(rounds.map((round) => round[n]!)))
    const share = Math.round((100 * ours!) / bare!)
    console.log(`${way.padEnd(5)} ${ours!.toFixed(0)} MB/s, the bare pipe ${bare!.toFixed(0)} MB/s: ${share} %`)
  }
  console.log(`memory ${before.toFixed(0)} MiB before, at most ${(server.peak() - before).toFixed(0)} MiB more`)
  console.log(`${(await small()).toFixed(0)} small files a second, from ${SENDERS} connections`)
} finally {
  await stopProcess(child)
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
  rmSync(server.data, { recursive: true, force: true })
}

/** Sends so many bytes; MB a second. */
function up(url: string, size: number): Promise<number> {
  return new Promise((done, failed) => {
    const begun = performance.now()
    const headers = {
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/octet-stream',
      'content-length': size,
    }
    const sending = request(url, { method: 'POST', headers }, (answer) => {
      answer.resume()
      answer.on('end', () =>
        answer.statusCode === 200
          ? done(size / 1e3 / (performance.now() - begun))
          : failed(new Error(`An upload got ${answer.statusCode}.`)),
      )
    })
    sending.on('error', failed)
    let sent = 0
    const write = () => {
      while (sent < size) {
        // Each upload has bytes of its own, so that each is stored.
        if (sent === 0) CHUNK.writeDoubleLE(Math.random(), 0)
        const part = CHUNK.subarray(0, Math.min(CHUNK.length, size - sent))
        sent += part.length
        if (!sending.write(part)) return void sending.once('drain', write)
      }
      sending.end()
    }
    write()
  })
}

/** Reads all bytes; MB a second. */
function down(url: string): Promise<number> {
  return new Promise((done, failed) => {
    const begun = performance.now()
    request(url, { headers: { authorization: `Bearer ${KEY}` } }, (answer) => {
      let size = 0
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length
      })
      answer.on('end', () => done(size / 1e3 / (performance.now() - begun)))
      answer.on('error', failed)
    })
      .on('error', failed)
      .end()
  })
}

/** Sends many small files from several connections; files a second. */
async function small(): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: SENDERS })
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/octet-stream' }
  const send = () =>
    new Promise<void>((done, failed) => {
      const sending = request(`${server.url}/~bench/files`, { method: 'POST', agent, headers }, (answer) => {
        answer.resume()
        answer.on('end', () => (answer.statusCode === 201 ? done() : failed(new Error(`Got ${answer.statusCode}.`))))
      })
      sending.on('error', failed)
      sending.end(randomBytes(4_096))
    })
  for (let n = 0; n < 200; n++) await send()
  const begun = performance.now()
  let left = SMALL
  await Promise.all(
    Array.from({ length: SENDERS }, async () => {
      while (left-- > 0) await send()
    }),
  )
  agent.destroy()
  return (SMALL * 1_000) / (performance.now() - begun)
}
