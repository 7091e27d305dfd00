import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { type BenchServer, KEY, quantile, startServer } from '../hosts/server.ts'
import type { AttackStart } from '../neighbour/attacker.ts'
import { ATTACKS } from '../neighbour/attacks.ts'
import { Writer } from './writers.ts'

/**
 * Runs all attacks of `neighbour`, one after the other, in four rounds, against one server with default settings while three
 * tenants work in peace: nothing of theirs may be lost, every log must verify, and the memory must stay flat: each round has
 * the same attacks. Run it with `npm run soak [minutes] [word of an attack…]`; an hour when no time is given.
 */
const [minutes, ...words] = process.argv.slice(2)
const MINUTES = Number(minutes ?? 60)
const attacks = ATTACKS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
const SAMPLE_MS = 2_000
const ROUNDS = 4
const TENANTS = ['quiet-one', 'quiet-two', 'quiet-three']

const server = await startServer(1, {
  TILDE_SIGNUP: 'open',
  // As the image and the systemd unit set them.
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '262144',
  // So few that the file of a tenant is closed before it is damaged.
  TILDE_OPEN_TENANTS: '20',
  TILDE_CONFIG: join(import.meta.dirname, '..', 'neighbour', 'deadly-hook.ts'),
})
const end = new AbortController()
const writers = await Promise.all(TENANTS.map(async (tenant) => new Writer(server.url, tenant, await keyOf(tenant))))
const work = writers.map((writer) => writer.run(end.signal))
/** The memory in MiB, sample by sample, of each round. */
const memory: number[][] = []
const sampling = setInterval(() => memory.at(-1)?.push(server.rss()), SAMPLE_MS)

for (let round = 0; round < ROUNDS; round++) {
  memory.push([])
  for (const [i, { name }] of attacks.entries()) {
    const before = { deaths: server.deaths(), errors: errors(), waits: writers.map(({ waits }) => waits.length) }
    await attack({ attack: name, isPrepared: round > 0 }, `attacker-${i}`, (MINUTES * 60_000) / attacks.length / ROUNDS)
    const waits = writers.flatMap((writer, n) => writer.waits.slice(before.waits[n]))
    say(
      `${name}: ${waits.length} requests of others, p99 ${quantile(waits, 0.99).toFixed(0)} ms, ` +
        `${errors() - before.errors} errors, ${server.deaths() - before.deaths} deaths, ${server.rss().toFixed(0)} MiB`,
    )
  }
}
end.abort()
await Promise.all(work)
clearInterval(sampling)
const lost = (await Promise.all(writers.map((writer) => writer.lost()))).flat()
const broken = await unverified(server)
const acknowledged = writers.reduce((sum, writer) => sum + writer.acknowledged.size, 0)
say(`${acknowledged} contacts acknowledged, ${lost.length} lost or older than acknowledged, ${errors()} errors`)
say(`logs that do not verify: ${broken.join(', ') || 'none'}`)
const medians = memory.map((samples) => quantile(samples, 0.5).toFixed(0))
say(`median memory of each round: ${medians.join(', ')} MiB; most ${server.peak().toFixed(0)} MiB`)
await server.stop()
if (lost.length > 0 || broken.length > 0) process.exitCode = 1

async function attack(start: Omit<AttackStart, 'place'>, tenant: string, ms: number): Promise<void> {
  const place = {
    url: server.url,
    data: server.data,
    operatorKey: KEY,
    attacker: tenant,
    key: await keyOf(tenant),
  }
  const thread = new Worker(new URL('../neighbour/attacker.ts', import.meta.url), {
    workerData: { ...start, place } satisfies AttackStart,
  })
  const ended = once(thread, 'exit')
  await once(thread, 'message')
  thread.postMessage('run')
  await sleep(ms)
  thread.postMessage('stop')
  await Promise.race([ended, sleep(10_000)])
  await thread.terminate()
}

/** The tenants whose log does not verify, but for the one that was damaged on purpose. */
async function unverified({ url, ask }: BenchServer): Promise<string[]> {
  const headers = { authorization: `Bearer ${KEY}` }
  const broken: string[] = []
  const tenants = [...TENANTS, ...attacks.map((_, i) => `attacker-${i}`)]
  for (const tenant of tenants) {
    await ask('POST', `/operator/tenants/${tenant}/release`)
    const response = await fetch(`${url}/operator/tenants/${tenant}/verify`, { headers })
    const isDamaged = attacks[Number(tenant.split('-')[1])]?.name === 'a damaged tenant'
    const { ok } = (await response.json()) as { ok?: boolean }
    if ((response.ok && ok === true) === isDamaged) broken.push(tenant)
  }
  return broken
}

async function keyOf(tenant: string): Promise<string> {
  const response = await fetch(`${server.url}/~${tenant}/api-keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'soak', scopes: 'admin:all' }),
  })
  return ((await response.json()) as { secret: string }).secret
}

function errors(): number {
  return writers.reduce((sum, writer) => sum + writer.errors, 0)
}

function say(line: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`)
}
