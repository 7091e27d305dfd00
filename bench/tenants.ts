import { loadavg } from 'node:os'
import { fileSize, quantile, startServer } from './hosts/server.ts'

/**
 * Many small tenants on one server: what they take on disk and in memory, and what it costs to touch a few and none.
 * Takes four minutes. Run it with `node bench/tenants.ts [most tenants] [touched] [workers]`.
 */
const MOST_TENANTS = Number(process.argv[2] ?? 10_000)
const TOUCHED = Number(process.argv[3] ?? 500)
const WORKERS = Number(process.argv[4] ?? 0)
const CREATING_MS = 90_000
const TOUCHING_MS = 30_000
/** When keys were used is written down once a minute: then nothing is left to do. */
const SETTLING_MS = 65_000
const IDLE_MS = 15_000
const CLIENTS = 16

const server = await startServer(WORKERS)
console.log(`${WORKERS} workers; load ${loadavg()[0]!.toFixed(1)}`)
console.log(`started in ${server.startedMs.toFixed(0)} ms (${server.cpu()} ms of computing), ${memory()}`)
const first = server.rss()

const begun = performance.now()
const before = server.cpu()
let created = 0
await Promise.all(
  Array.from({ length: CLIENTS }, async () => {
    while (created < MOST_TENANTS && performance.now() - begun < CREATING_MS) expectStatus(201, await create(created++))
  }),
)
const seconds = (performance.now() - begun) / 1_000
const each = ((server.cpu() - before) / created).toFixed(1)
console.log(`${created} tenants created, ${(created / seconds).toFixed(0)} a second, ${each} ms of computing each`)
console.log(`now ${memory()}, ${(server.rss() / first).toFixed(1)} times that of the start; at most 500 are open`)
console.log(`a new tenant with one contact takes ${fileSize(server.data, slugOf(0)).toFixed(0)} KiB`)

const waits: number[] = []
const worked = server.cpu()
const touching = performance.now()
let most = 0
for (let i = 0; i < TOUCHED; i++) {
  const next = touching + (i * TOUCHING_MS) / TOUCHED
  await pause(Math.max(next - performance.now(), 0))
  const asked = performance.now()
  expectStatus(200, await server.ask('GET', `/~${slugOf(Math.floor(Math.random() * created))}/Contact`))
  waits.push(performance.now() - asked)
  most = Math.max(most, server.rss())
}
const touchedMs = performance.now() - touching
console.log(
  `${TOUCHED} of them read by chance within ${(touchedMs / 1_000).toFixed(0)} s: p50 ${quantile(waits, 0.5).toFixed(1)} ms, ` +
    `p99 ${quantile(waits, 0.99).toFixed(1)} ms, at most ${most.toFixed(0)} MiB, ` +
    `${((100 * (server.cpu() - worked)) / touchedMs).toFixed(1)} % of a core`,
)

await pause(SETTLING_MS)
const idle = server.cpu()
await pause(IDLE_MS)
console.log(`idle: ${((server.cpu() - idle) / (IDLE_MS / 1_000)).toFixed(1)} ms of computing a second, ${memory()}`)

const stopping = performance.now()
await server.stop()
console.log(`stopped in ${(performance.now() - stopping).toFixed(0)} ms`)

function memory(): string {
  return `${server.rss().toFixed(0)} MiB`
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms))
}

function slugOf(i: number): string {
  return `t${i.toString(36).padStart(4, '0').split('').reverse().join('')}`
}

function create(i: number): Promise<number> {
  return server.ask('POST', `/~${slugOf(i)}/Contact`, { name: 'Ada Lovelace', email: 'ada@example.com' })
}

function expectStatus(wanted: number, status: number): void {
  if (status !== wanted) throw new Error(`The answer was ${status} and not ${wanted}.`)
}
