import { availableParallelism, loadavg } from 'node:os'
import { type BenchServer, KEY, quantile, startServer } from './hosts/server.ts'

/**
 * 100,000 timers of one tenant that are due at the same moment: how many run a second, and what a quiet tenant in the same
 * thread feels of it. Run it with `npm run bench -- timers [timers] [workers]`.
 */
const TIMERS = Number(process.argv[2] ?? 100_000)
const WORKERS = Number(process.argv[3] ?? 1)
const ALONE = 8_000
/** They are due so long after the first is imported. */
const LEAD = Number(process.env.BENCH_LEAD ?? TIMERS)
const SLICE = 10_000

const TYPE = { ringAt: 'datetime', ring: { event: 'rang' }, $timers: { ring: { at: 'ringAt', run: 'ring' } } }

console.log(
  `${availableParallelism()} cores, load ${loadavg()[0]!.toFixed(1)}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`,
)
const server = await startServer(WORKERS)
try {
  await send(server, 'PUT', '/~acme/schema/Alarm', JSON.stringify(TYPE))
  const due = Date.now() + LEAD
  const { seconds } = await importTimers(server, new Date(due).toISOString())
  await latencies(server, 2_000)
  const alone = await latencies(server, ALONE)
  if (Date.now() > due) throw new Error('They were due before all was measured: set BENCH_LEAD to more milliseconds.')
  await new Promise((done) => setTimeout(done, due - Date.now()))
  const state = { isDone: false }
  const done = finished(server).then(() => {
    state.isDone = true
    return Date.now()
  })
  const beside = await latencies(server, Number.POSITIVE_INFINITY, () => state.isDone)
  const took = ((await done) - due) / 1_000
  const [p99, besideP99] = [quantile(alone, 0.99), quantile(beside, 0.99)]
  console.log(`${TIMERS} imported in ${seconds.toFixed(1)} s`)
  console.log(`${TIMERS} timers in ${took.toFixed(1)} s: ${Math.round(TIMERS / took)}/s, ${WORKERS} workers`)
  console.log(
    `neighbour p50 / p99 ms: alone ${quantile(alone, 0.5).toFixed(1)} / ${p99.toFixed(1)}, beside ` +
      `${quantile(beside, 0.5).toFixed(1)} / ${besideP99.toFixed(1)}, ratio of p99 ${(besideP99 / p99).toFixed(1)}`,
  )
} finally {
  await server.stop()
}

async function importTimers(to: BenchServer, ringAt: string): Promise<{ seconds: number }> {
  const begun = performance.now()
  for (let at = 0; at < TIMERS; at += SLICE) {
    const rows = Array.from({ length: Math.min(SLICE, TIMERS - at) }, () => ({ ringAt }))
    await send(to, 'POST', '/~acme/import/Alarm', JSON.stringify(rows))
  }
  return { seconds: (performance.now() - begun) / 1_000 }
}

/** Done when the timer of the last one has run: they run in the order of creation. */
async function finished(of: BenchServer): Promise<void> {
  const { results } = await send(of, 'GET', '/~acme/Alarm?limit=1')
  for (;;) {
    const { total } = await send(of, 'GET', `/~acme/Alarm/${results[0].$id}/timers`)
    if (total === 0) return
    await new Promise((done) => setTimeout(done, 50))
  }
}

/** The waits of a client of a quiet tenant that reads, and writes with every fifth request. */
async function latencies(of: BenchServer, ms: number, isOver = () => false): Promise<number[]> {
  const waits: number[] = []
  const end = performance.now() + ms
  for (let i = 0; performance.now() < end && !isOver(); i++) {
    const asked = performance.now()
    if (i % 5 === 0) await send(of, 'POST', '/~quiet/Contact', '{"name":"Ada"}')
    else await send(of, 'GET', '/~quiet/Contact?limit=10')
    waits.push(performance.now() - asked)
    await new Promise((done) => setTimeout(done, 5))
  }
  return waits
}

async function send(to: BenchServer, method: string, path: string, body?: string): Promise<any> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  const response = await fetch(`${to.url}${path}`, { method, headers, ...(body !== undefined && { body }) })
  const answer = await response.json()
  if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
  return answer
}
