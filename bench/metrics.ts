import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSettings, startHost } from '@tildebase/server'

/** How long the business snapshot takes over many subscriptions and deals. Run it with `node bench/metrics.ts [of each]`. */
const OF_EACH = Number(process.argv[2] ?? 100_000)
const HEADERS = { authorization: 'Bearer bench', 'content-type': 'application/json' }
const STAGES = ['Prospecting', 'Qualification', 'Proposal', 'Negotiation', 'Won', 'Lost']
const DAY = 86_400_000

const data = mkdtempSync(join(tmpdir(), 'tildebase-bench-'))
const host = await startHost(readSettings({ port: '0', workers: '0', data }, { TILDE_ROOT_KEY: 'bench' }))
const plans = await Promise.all(Array.from({ length: 20 }, (_, n) => plan(n)))
await fill('Subscription', subscription)
await fill('Deal', (n) => ({ name: `Deal ${n}`, value: n, currency: 'usd', stage: STAGES[n % STAGES.length] }))
await fill('Event', (n) => ({ name: 'opened', type: 'track', userId: `user-${n % 10_000}` }))

const times = { cold: [] as number[], warm: [] as number[] }
for (let n = 0; n < 7; n++) {
  // A change of each type drops what was kept.
  await post('Subscription', subscription(n))
  await post('Deal', { name: 'one more' })
  await post('Event', { name: 'opened', type: 'track' })
  times.cold.push(await timed('metrics'))
  for (let again = 0; again < 10; again++) times.warm.push(await timed('metrics'))
}
console.log(`${OF_EACH} subscriptions, deals and events each`)
console.log(`snapshot after a change: ${spread(times.cold)}`)
console.log(`snapshot again: ${spread(times.warm)}`)
console.log(`Metric/mrr with twelve months: ${(await timed('Metric/mrr')).toFixed(1)} ms`)
console.log(`Metric/mrr again: ${(await timed('Metric/mrr')).toFixed(1)} ms`)
await host.stop()
rmSync(data, { recursive: true, force: true })

async function plan(n: number): Promise<string> {
  const { $id } = await post('Plan', { name: `Plan ${n}` })
  await post('Price', { plan: $id, amount: 10 + n, interval: n % 2 === 0 ? 'Monthly' : 'Yearly', active: true })
  return $id
}

function subscription(n: number): object {
  const startedAt = new Date(Date.now() - (n % 400) * DAY).toISOString()
  const gone = n % 7 === 0 && { status: 'Cancelled', canceledAt: new Date(Date.now() - (n % 60) * DAY).toISOString() }
  return { plan: plans[n % plans.length], quantity: 1 + (n % 3), startedAt, ...gone }
}

async function fill(type: string, draft: (n: number) => object): Promise<void> {
  for (let begin = 0; begin < OF_EACH; begin += 20_000) {
    const rows = Array.from({ length: Math.min(20_000, OF_EACH - begin) }, (_, n) => draft(begin + n))
    const { imported } = await post(`import/${type}`, rows)
    if (imported !== rows.length) throw new Error(`Only ${imported} of ${rows.length} ${type} were imported.`)
  }
}

async function post(path: string, body: unknown): Promise<any> {
  const response = await fetch(`${host.url}/~bench/${path}`, {
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify(body),
  })
  return response.json()
}

async function timed(path: string): Promise<number> {
  const began = performance.now()
  await (await fetch(`${host.url}/~bench/${path}`, { headers: HEADERS })).text()
  return performance.now() - began
}

function spread(times: number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)]!.toFixed(1)
  return `median ${at(0.5)} ms, slowest ${at(1)} ms`
}
