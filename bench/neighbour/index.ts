import { once } from 'node:events'
import { availableParallelism, loadavg } from 'node:os'
import { Worker } from 'node:worker_threads'
import { type BenchServer, KEY, quantile, startServer } from '../hosts/server.ts'
import type { AttackStart } from './attacker.ts'
import { ATTACKS } from './attacks.ts'
import { keyOf, type Place } from './scene.ts'

/**
 * What a quiet tenant feels of each attack by a neighbour in its own thread: its p99 alone and during the attack, errors,
 * threads that died, and the memory of the service. Run it with `npm run bench -- neighbour [word of an attack…]`;
 * `BENCH_WORKERS=1,4` chooses the workers. With `BENCH_APART=1` the attacker has a service of its own on the same machine:
 * what the neighbour then feels is the machine's share.
 */
const SECONDS = Number(process.env.BENCH_SECONDS ?? 8)
const isApart = process.env.BENCH_APART === '1'
const ATTACKER = 'acme'
const words = process.argv.slice(2)
const chosen = ATTACKS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
const workers = (process.env.BENCH_WORKERS ?? '1,4').split(',').map(Number)

interface Feeling {
  readonly waits: readonly number[]
  readonly errors: number
}

console.log(
  `${availableParallelism()} cores, load ${loadavg()[0]!.toFixed(1)}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`,
)
console.log(
  '| attack | workers | alone p50 / p99 ms | beside p50 / p99 ms | ratio of p99 | errors | deaths | most MiB |',
)
console.log('|---|---|---|---|---|---|---|---|')
for (const { name, env } of chosen) for (const count of workers) console.log(await measured(name, env ?? {}, count))

async function measured(attack: string, env: Record<string, string>, count: number): Promise<string> {
  const server = await startServer(count, env)
  const attacked = isApart ? await startServer(count, env) : server
  const neighbour = neighbourOf(ATTACKER, count)
  const place: Place = {
    url: attacked.url,
    data: attacked.data,
    operatorKey: KEY,
    attacker: ATTACKER,
    key: await keyOf(attacked.url, KEY, ATTACKER),
  }
  const key = await keyOf(server.url, KEY, neighbour)
  try {
    const thread = new Worker(new URL('./attacker.ts', import.meta.url), {
      workerData: { attack, place } satisfies AttackStart,
    })
    const ended = once(thread, 'exit')
    await once(thread, 'message')
    const deaths = server.deaths()
    // The attacker's tenant was just filled: alone is without the indexing of it.
    for (const one of new Set([server, attacked])) await idle(one)
    await latencies(server, neighbour, key, 2)
    const alone = await latencies(server, neighbour, key, SECONDS)
    server.resetPeak()
    thread.postMessage('run')
    const beside = await latencies(server, neighbour, key, SECONDS)
    const peak = server.peak()
    thread.postMessage('stop')
    await Promise.race([ended, new Promise((done) => setTimeout(done, 5_000))])
    await thread.terminate()
    const ratio = (quantile(beside.waits, 0.99) / quantile(alone.waits, 0.99)).toFixed(1)
    const cells = [
      attack,
      count,
      figures(alone),
      figures(beside),
      ratio,
      beside.errors,
      server.deaths() - deaths,
      peak.toFixed(0),
    ]
    return `| ${cells.join(' | ')} |`
  } finally {
    await server.stop()
    if (isApart) await attacked.stop()
  }
}

/** Waits until a server has computed next to nothing for two seconds. */
async function idle(server: BenchServer): Promise<void> {
  for (let calm = 0; calm < 2; ) {
    const before = server.cpu()
    await new Promise((done) => setTimeout(done, 1_000))
    calm = server.cpu() - before < 30 ? calm + 1 : 0
  }
}

/** A neighbour that is in the same worker. */
function neighbourOf(attacker: string, count: number): string {
  for (let i = 0; ; i++) if (numberOf(`quiet${i}`) % count === numberOf(attacker) % count) return `quiet${i}`
}

/** FNV-1a, as the service spreads tenants over its workers. */
function numberOf(slug: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < slug.length; i++) hash = Math.imul(hash ^ slug.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

/** The waits of a client that reads, and writes with every fifth request. */
async function latencies({ url }: BenchServer, tenant: string, key: string, seconds: number): Promise<Feeling> {
  const waits: number[] = []
  let errors = 0
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const end = performance.now() + seconds * 1_000
  for (let i = 0; performance.now() < end; i++) {
    const asked = performance.now()
    const write = i % 5 === 0 ? { method: 'POST', body: '{"name":"Ada"}' } : {}
    const response = await fetch(`${url}/~${tenant}/Contact?limit=10`, { headers, ...write }).catch(() => null)
    await response?.arrayBuffer()
    waits.push(performance.now() - asked)
    if (!response?.ok) errors++
    await new Promise((done) => setTimeout(done, 5))
  }
  return { waits, errors }
}

function figures({ waits }: Feeling): string {
  return `${quantile(waits, 0.5).toFixed(1)} / ${quantile(waits, 0.99).toFixed(1)}`
}
