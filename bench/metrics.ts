import { quantile, startServer } from './hosts/server.ts'

/** How long the business snapshot takes over many subscriptions and deals, cold and warm. Run it with `node bench/metrics.ts [of each]`. */
const OF_EACH = Number(process.argv[2] ?? 100_000)
const ROUNDS = 10
const AGAIN = 20
const STAGES = ['Prospecting', 'Qualification', 'Proposal', 'Negotiation', 'Won', 'Lost']
const PLANS = Array.from({ length: 20 }, (_, n) => `plan_${String(n).padStart(20, '0')}`)
const DAY = 86_400_000

const server = await startServer(0)
await fill('Plan', PLANS.length, (n) => ({ $id: PLANS[n], name: `Plan ${n}` }))
await fill('Price', PLANS.length, price)
await fill('Subscription', OF_EACH, subscription)
await fill('Deal', OF_EACH, deal)
await fill('Event', OF_EACH, event)
console.log(`${OF_EACH} subscriptions, deals and events each`)

const cold: Taken[] = []
const warm: Taken[] = []
for (let n = 0; n < ROUNDS; n++) {
  // A change of each type drops what was kept.
  await post('Subscription', subscription(n))
  await post('Deal', deal(n))
  await post('Event', event(n))
  cold.push(await take('metrics'))
  for (let again = 0; again < AGAIN; again++) warm.push(await take('metrics'))
}
console.log(`snapshot after a change: ${spread(cold)}`)
console.log(`snapshot again: ${spread(warm)}`)
for (const name of ['mrr', 'pipeline']) {
  console.log(`Metric/${name} with twelve months: ${spread([await take(`Metric/${name}`)])}`)
  const again: Taken[] = []
  for (let n = 0; n < AGAIN; n++) again.push(await take(`Metric/${name}`))
  console.log(`Metric/${name} again: ${spread(again)}`)
}
await server.stop()

/** What one request took: on the clock, and of the processors. */
interface Taken {
  readonly ms: number
  readonly cpu: number
}

async function take(path: string): Promise<Taken> {
  const [began, computed] = [performance.now(), server.cpu()]
  if ((await server.ask('GET', `/~bench/${path}`)) !== 200) throw new Error(`${path} was refused.`)
  return { ms: performance.now() - began, cpu: server.cpu() - computed }
}

/** The kernel counts processor time in steps of 10 ms, so it is reported as a mean. */
function spread(taken: readonly Taken[]): string {
  const times = taken.map(({ ms }) => ms)
  const computed = taken.reduce((sum, { cpu }) => sum + cpu, 0) / taken.length
  const [median, slowest] = [quantile(times, 0.5), quantile(times, 1)]
  return `median ${median.toFixed(1)} ms, slowest ${slowest.toFixed(1)} ms, ${computed.toFixed(1)} ms of computing`
}

function price(n: number): object {
  return { plan: PLANS[n], amount: 10 + n, interval: n % 2 === 0 ? 'Monthly' : 'Yearly', active: true }
}

function subscription(n: number): object {
  const startedAt = new Date(Date.now() - (n % 400) * DAY).toISOString()
  const gone = n % 7 === 0 && { status: 'Cancelled', canceledAt: new Date(Date.now() - (n % 60) * DAY).toISOString() }
  return { plan: PLANS[n % PLANS.length], quantity: 1 + (n % 3), startedAt, ...gone }
}

function deal(n: number): object {
  return { name: `Deal ${n}`, value: n, currency: 'usd', stage: STAGES[n % STAGES.length] }
}

function event(n: number): object {
  return { name: 'opened', type: 'track', userId: `user-${n % 10_000}` }
}

async function fill(type: string, count: number, draft: (n: number) => object): Promise<void> {
  for (let begin = 0; begin < count; begin += 20_000) {
    const rows = Array.from({ length: Math.min(20_000, count - begin) }, (_, n) => draft(begin + n))
    await post(`import/${type}`, rows)
  }
}

async function post(path: string, body: object): Promise<void> {
  const status = await server.ask('POST', `/~bench/${path}`, body)
  if (status >= 300) throw new Error(`${path} was answered ${status}.`)
}
