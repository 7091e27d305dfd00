import { afterAll, beforeAll, expect } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'

const DATES = Number(process.env.TILDE_PAST_DATES ?? 100)
/** As many as a page has. */
const DEALS = 100
const CHANGES = 1_500
const STAGES = ['Prospecting', 'Qualification', 'Proposal', 'Won', 'Lost']

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.stop())

/** Random numbers that are the same in every run. */
function chance(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

interface Deal {
  readonly name: string
  readonly stage: string
  readonly value: number
}

interface Change {
  readonly deal: number
  readonly at: number
  readonly data: { readonly stage?: string; readonly value?: number; readonly name?: string } | null
}

/** A random past: deals are created, change and are deleted. */
function randomPast(): Change[] {
  const next = chance(7)
  const live = new Set<number>()
  const used = new Set<number>()
  const changes: Change[] = []
  let at = Date.UTC(2023, 0, 1)
  while (changes.length < CHANGES) {
    at += Math.floor(next() * 4) * 3_600_000
    const deal = Math.floor(next() * DEALS)
    if (!used.has(deal)) {
      used.add(deal)
      live.add(deal)
      changes.push({
        deal,
        at,
        data: { name: `Deal ${deal}`, stage: STAGES[Math.floor(next() * 3)]!, value: Math.floor(next() * 100) },
      })
    } else if (live.has(deal)) {
      const roll = next()
      if (roll < 0.02) live.delete(deal)
      const data =
        roll < 0.02
          ? null
          : roll < 0.5
            ? { stage: STAGES[Math.floor(next() * 5)]! }
            : { value: Math.floor(next() * 100) }
      changes.push({ deal, at, data })
    }
  }
  return changes
}

/** The deals at a time, computed from the changes alone. */
function statesAt(changes: readonly Change[], at: number): Deal[] {
  const states = new Map<number, any>()
  for (const { deal, at: time, data } of changes) {
    if (time > at) break
    if (data === null) states.delete(deal)
    else states.set(deal, { ...states.get(deal), ...data })
  }
  return [...states.values()]
}

const ofStage = (deals: readonly Deal[], stage: string) => deals.filter((deal) => deal.stage === stage)
const sumOf = (deals: readonly Deal[]) => deals.reduce((sum, { value }) => sum + value, 0)

/** Number and value of the deals of each stage that has any. */
function sumsOf(deals: readonly Deal[]): { [stage: string]: [number, number] } {
  const stages = STAGES.filter((stage) => ofStage(deals, stage).length > 0)
  return Object.fromEntries(
    stages.map((stage) => [stage, [ofStage(deals, stage).length, sumOf(ofStage(deals, stage))]]),
  )
}

/** The same, as an aggregation answers it. */
function sumsIn(answer: any): { [stage: string]: [number, number] } {
  return Object.fromEntries(answer.results.map((one: any) => [one.stage, [one.count, one.sum?.value ?? one.sum]]))
}

verifies(
  'past.reads',
  'list, count, aggregate and metrics at random past dates equal an oracle of the source data',
  async () => {
    const changes = randomPast()
    const known = new Set<number>()
    const rows = changes.map(({ deal, at, data }) => {
      const verb = data === null ? 'delete' : known.has(deal) ? 'update' : 'create'
      known.add(deal)
      return { type: 'Deal', source: `d:${deal}`, verb, timestamp: new Date(at).toISOString(), ...(data && { data }) }
    })
    await app.key('acme', 'read:all')
    const { body } = await app.request('POST', '/~acme/import/history', rows)
    expect(body).toMatchObject({ imported: CHANGES, errors: 0 })
    const next = chance(11)
    const [first, last] = [changes[0]!.at, changes.at(-1)!.at]

    for (let i = 0; i < DATES; i++) {
      const at = Math.floor(first - 86_400_000 + next() * (last - first + 2 * 86_400_000))
      const asOf = new Date(at).toISOString()
      const expected = statesAt(changes, at).sort((a, b) => (a.name < b.name ? -1 : 1))
      const read = async (path: string) => (await app.request('GET', `/~acme${path}`)).body

      const list = await read(`/Deal?asOf=${asOf}&limit=100&sort=name`)
      const count = await read(`/Deal/count?asOf=${asOf}&stage=Won`)
      const groups = await read(`/Deal/aggregate?asOf=${asOf}&group=stage&sum=value`)
      const { pipeline } = await read(`/metrics?asOf=${asOf}`)

      expect(list.total).toBe(expected.length)
      expect(list.results.map(({ name, stage, value }: any) => ({ name, stage, value }))).toEqual(expected)
      expect(count).toEqual({ count: ofStage(expected, 'Won').length })
      expect(sumsIn(groups)).toEqual(sumsOf(expected))
      const open = expected.filter(({ stage }) => stage !== 'Won' && stage !== 'Lost')
      const stages = Object.fromEntries(Object.entries(sumsOf(expected)).map(([stage, [deals]]) => [stage, deals]))
      expect(pipeline).toMatchObject({
        totalDeals: open.length,
        totalValue: sumOf(open),
        stages,
      })
      expect(Object.values<number>(pipeline.stages).reduce((sum, deals) => sum + deals, 0)).toBe(expected.length)
    }
  },
  600_000,
)
