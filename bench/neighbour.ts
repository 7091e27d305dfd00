import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { concurrently } from './compare/process.ts'
import { type BenchServer, quantile, startServer } from './hosts/server.ts'

/**
 * What a tenant feels of its neighbour: the latency of B alone, while A runs scans and exports without end, and while
 * the worker of A is killed. Takes three minutes. Run it with `node bench/neighbour.ts`.
 */
const ROWS = 50_000
const SECONDS = 8
/** Of two workers, these live in different ones. */
const A = 'acme'
const B = 'globex'

console.log(`load ${loadavg()[0]!.toFixed(1)}`)
console.log('workers  B alone: p50 p99 ms  beside scans of A: p50 p99 ms  ratio of p50, of p99')
for (const workers of [0, 2]) {
  const server = await startServer(workers)
  await fill(server)
  const alone = await latencies(server)
  let over = false
  const noise = Array.from({ length: 2 }, async (_, i) => {
    while (!over) await server.ask('GET', i === 0 ? scan() : `/~${A}/export/Contact?format=csv`)
  })
  const beside = await latencies(server)
  over = true
  await Promise.all(noise)
  console.log(
    `${workers}        ${ms(alone, 0.5)} ${ms(alone, 0.99)}               ${ms(beside, 0.5)} ${ms(beside, 0.99)}` +
      `                       ${ratio(beside, alone, 0.5)} ${ratio(beside, alone, 0.99)}`,
  )
  await server.stop()
}
await restart()

/** How long a tenant is away when the worker it lives in dies, and what its neighbour sees of that. */
async function restart(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-bench-hooks-'))
  const config = join(folder, 'hooks.mjs')
  writeFileSync(config, `export const hooks = ({ Lead }) => Lead.creating(() => process.exit(1))`)
  const server = await startServer(2, { TILDE_CONFIG: config })
  for (const slug of [A, B]) await server.ask('POST', `/~${slug}/Contact`, { name: 'Ada' })
  const away: number[] = []
  const neighbour: number[] = []
  const alone = await latencies(server, 4)
  for (let i = 0; i < 5; i++) {
    const died = performance.now()
    const others = latencies(server, 2).then((waits) => neighbour.push(...waits))
    await server.ask('POST', `/~${A}/Lead`, { name: 'Ada' })
    while ((await server.ask('GET', `/~${A}/Contact`)) !== 200) await new Promise((done) => setTimeout(done, 5))
    away.push(performance.now() - died)
    await others
    // One that dies young is started again later: this is about one that does not.
    await new Promise((done) => setTimeout(done, 10_000))
  }
  console.log(`a worker that died is back after ${ms(away, 0.5)} ms (median of ${away.length})`)
  console.log(
    `its neighbour meanwhile: p50 ${ms(neighbour, 0.5)} ms, p99 ${ms(neighbour, 0.99)} ms; ` +
      `${ratio(neighbour, alone, 0.5)} and ${ratio(neighbour, alone, 0.99)} times those of before`,
  )
  await server.stop()
  rmSync(folder, { recursive: true })
}

async function fill(server: BenchServer): Promise<void> {
  const rows = Array.from({ length: ROWS }, (_, i) => JSON.stringify({ name: `Person ${i}`, note: `number ${i * 7}` }))
  await server.ask('POST', `/~${A}/import/Contact`, rows.join('\n'), 'application/x-ndjson')
  await concurrently(100, 4, async (i) => void (await server.ask('POST', `/~${B}/Contact`, { name: `Person ${i}` })))
}

/** A list that no index helps with. */
function scan(): string {
  const filter = encodeURIComponent(JSON.stringify({ note: { $regex: '999$' } }))
  return `/~${A}/Contact?filter=${filter}&sort=note&limit=10`
}

async function latencies(server: BenchServer, seconds = SECONDS): Promise<number[]> {
  const waits: number[] = []
  const end = performance.now() + seconds * 1_000
  while (performance.now() < end) {
    const asked = performance.now()
    await server.ask('GET', `/~${B}/Contact?limit=10`)
    waits.push(performance.now() - asked)
    await new Promise((done) => setTimeout(done, 5))
  }
  return waits
}

function ratio(a: readonly number[], b: readonly number[], part: number): string {
  return (quantile(a, part) / quantile(b, part)).toFixed(1)
}

function ms(values: readonly number[], part: number): string {
  return quantile(values, part).toFixed(1)
}
