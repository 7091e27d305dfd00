import { concurrently } from './compare/process.ts'
import { fileSize, quantile, startServer } from './hosts/server.ts'

/** Many small tenants on one server. Run it with `node bench/tenants.ts [tenants] [touched per minute] [workers]`. */
const TENANTS = Number(process.argv[2] ?? 10_000)
const TOUCHED = Number(process.argv[3] ?? 1_000)
const WORKERS = Number(process.argv[4] ?? 0)
const MINUTE = 60_000

const server = await startServer(WORKERS)
console.log(`${WORKERS} workers; started in ${server.startedMs.toFixed(0)} ms, ${server.rss().toFixed(0)} MiB`)

const begun = performance.now()
await concurrently(TENANTS, 16, async (i) => expectStatus(201, await create(i)))
const seconds = (performance.now() - begun) / 1_000
console.log(`${TENANTS} tenants created, ${(TENANTS / seconds).toFixed(0)} a second, ${server.rss().toFixed(0)} MiB`)
console.log(`a new tenant with one contact takes ${fileSize(server.data, slugOf(0)).toFixed(0)} KiB`)

const waits: number[] = []
const worked = server.cpu()
const touching = performance.now()
let most = 0
for (let i = 0; i < TOUCHED; i++) {
  const next = touching + (i * MINUTE) / TOUCHED
  await new Promise((done) => setTimeout(done, Math.max(next - performance.now(), 0)))
  const asked = performance.now()
  expectStatus(200, await server.ask('GET', `/~${slugOf(Math.floor(Math.random() * TENANTS))}/Contact`))
  waits.push(performance.now() - asked)
  most = Math.max(most, server.rss())
}
console.log(
  `${TOUCHED} tenants touched in a minute: p50 ${quantile(waits, 0.5).toFixed(1)} ms, p99 ${quantile(waits, 0.99).toFixed(1)} ms, ` +
    `at most ${most.toFixed(0)} MiB, ${((server.cpu() - worked) / (MINUTE / 100)).toFixed(1)} % of a core`,
)

// What was touched has been written down by then: nothing is left to do.
await new Promise((done) => setTimeout(done, 2 * MINUTE))
const idle = server.cpu()
await new Promise((done) => setTimeout(done, MINUTE / 2))
console.log(`idle for half a minute: ${server.cpu() - idle} ms of computing, ${server.rss().toFixed(0)} MiB`)

const stopping = performance.now()
await server.stop()
console.log(`stopped in ${(performance.now() - stopping).toFixed(0)} ms`)

function slugOf(i: number): string {
  return `t${i.toString(36).padStart(4, '0').split('').reverse().join('')}`
}

function create(i: number): Promise<number> {
  return server.ask('POST', `/~${slugOf(i)}/Contact`, { name: 'Ada Lovelace', email: 'ada@example.com' })
}

function expectStatus(wanted: number, status: number): void {
  if (status !== wanted) throw new Error(`The answer was ${status} and not ${wanted}.`)
}
