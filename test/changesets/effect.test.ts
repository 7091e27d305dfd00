import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { pseudo } from '../tenant/fixture.ts'
import { verifies } from '../verifies.ts'

const METRICS = ['mrr', 'arr', 'churn', 'ltv', 'pipeline', 'deals_won', 'leads', 'tickets_open', 'satisfaction']
const STATES: { readonly [type: string]: string } = {
  Deal: 'stage',
  Lead: 'status',
  Ticket: 'status',
  Contact: 'stage',
}
const NORTH = { Deal: { name: 'North' } }

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.stop())

type Send = TestApp['request']
const at = (path: string) => `/~acme${path}`

/** A business of some deals, leads and tickets; every other deal is in the north. */
async function business(): Promise<{ readonly [type: string]: readonly string[] }> {
  const make = async (type: string, fields: object) => (await app.request('POST', at(`/${type}`), fields)).body.$id
  const all = (type: string, fields: (n: number) => object) =>
    Promise.all(Array.from({ length: 6 }, (_, n) => make(type, fields(n))))
  return {
    Deal: await all('Deal', (n) => ({ name: n % 2 ? 'North' : 'South', value: 100.1 * n, currency: 'eur' })),
    Lead: await all('Lead', (n) => ({ name: `Lead ${n}` })),
    Ticket: await all('Ticket', (n) => ({ subject: `Ticket ${n}` })),
  }
}

/** The numbers as other routes give them, by the same names as the effect has. */
async function numbers(send: Send): Promise<Map<string, number | null>> {
  const found = new Map<string, number | null>()
  for (const name of METRICS) found.set(name, (await send('GET', at(`/Metric/${name}`))).body.value)
  for (const [type, field] of Object.entries(STATES)) {
    const { results, total } = (await send('GET', at(`/${type}/aggregate?group=${field}`))).body
    found.set(`count ${type}`, total)
    for (const row of results) found.set(`count ${type} ${row[field]}`, row.count)
  }
  for (const row of (await send('GET', at('/Deal/aggregate?group=currency&sum=value'))).body.results) {
    found.set(`sum Deal value ${row.currency}`, Number(row.sum.value.toFixed(6)))
  }
  return found
}

/** What an effect says: each number, before and after. */
function told({ metrics, aggregates }: any): Map<string, readonly [number | null, number | null]> {
  const words = ({ measure, type, field, group }: any) =>
    [measure, type, field, ...Object.values(group ?? {})].filter((word) => word !== undefined).join(' ')
  return new Map([
    ...metrics.map(({ name, from, to }: any) => [name, [from, to]] as const),
    ...aggregates.map((one: any) => [words(one), [one.from, one.to]] as const),
  ])
}

verifies('changeset.effect', 'the effect is what the approval brings, for every key that sees it', async () => {
  const roll = pseudo(5)
  const pick = <T>(list: readonly T[]): T => list[roll(1)[0]! % list.length]!
  const agent = app.as(await app.key('acme', 'propose:all', { filter: NORTH }))
  const approver = app.as(await app.key('acme', 'write:all'))
  const narrowed = app.as(await app.key('acme', 'write:all', { filter: NORTH }))
  const verbs: readonly ((ids: Awaited<ReturnType<typeof business>>) => object)[] = [
    (ids) => ({ method: 'POST', path: `/Deal/${pick(north(ids.Deal!))}/win` }),
    (ids) => ({ method: 'PUT', path: `/Deal/${pick(north(ids.Deal!))}`, body: { value: roll(1)[0]! / 3 } }),
    (ids) => ({ method: 'DELETE', path: `/Deal/${pick(north(ids.Deal!))}` }),
    () => ({ method: 'POST', path: '/Deal', body: { name: 'North', value: 5, currency: 'eur' } }),
    (ids) => ({ method: 'POST', path: `/Lead/${pick(ids.Lead!)}/convert`, body: { contact: { email: 'a@b.c' } } }),
    (ids) => ({ method: 'POST', path: `/Ticket/${pick(ids.Ticket!)}/resolve`, body: { satisfaction: 4 } }),
  ]

  let changed = 0
  for (let round = 0; round < 12; round++) {
    const ids = await business()
    const operations = Array.from({ length: 1 + (roll(1)[0]! % 5) }, () => pick(verbs)(ids))
    const { status, body } = await agent('POST', at('/batch?propose=Some'), { operations })
    // A batch that cannot run as a whole, such as a deletion before a change, is not a proposal.
    if (status !== 202) continue
    const path = at(`/changesets/${body.$id}`)
    const readers = [approver, narrowed]
    const before = await Promise.all(readers.map(numbers))
    const effects = await Promise.all(readers.map(async (send) => told((await send('GET', `${path}/effect`)).body)))
    expect((await approver('GET', path)).body.state).toBe('Open')
    expect(await Promise.all(readers.map(numbers))).toEqual(before)

    expect((await approver('POST', `${path}/approve`)).status).toBe(200)

    const after = await Promise.all(readers.map(numbers))
    for (const [reader, effect] of effects.entries()) {
      const names = [...new Set([...before[reader]!.keys(), ...after[reader]!.keys()])]
      const absent = (name: string) => (METRICS.includes(name) ? null : 0)
      const differing = names.flatMap((name) => {
        const [from, to] = [before, after].map((side) => side[reader]!.get(name) ?? absent(name))
        return from === to ? [] : [[name, [from, to]] as const]
      })
      expect(new Map([...effect].filter(([name]) => names.includes(name)))).toEqual(new Map(differing))
      changed += differing.length
    }
  }
  expect(changed).toBeGreaterThan(50)
})

/** Every other one: the deals of the north. */
function north(deals: readonly string[]): readonly string[] {
  return deals.filter((_, n) => n % 2 === 1)
}

test('a key learns nothing of types that it may not read', async () => {
  const lead = (await app.request('POST', at('/Lead'), { name: 'Ada' })).body.$id
  const operations = [{ type: 'Lead', verb: 'convert', id: lead, data: { contact: {}, deal: { value: 10 } } }]
  const { body } = await app.request('POST', at('/changesets'), { title: 'Convert', operations })
  const narrow = app.as(await app.key('acme', 'read:Lead,read:Contact'))

  const all = told((await app.request('GET', at(`/changesets/${body.$id}/effect`))).body)
  const few = told((await narrow('GET', at(`/changesets/${body.$id}/effect`))).body)

  expect([...all.keys()]).toEqual(expect.arrayContaining(['count Deal', 'count Contact', 'pipeline']))
  expect([...few.keys()].filter((name) => /Deal|pipeline/.test(name))).toEqual([])
  expect(few.has('count Contact')).toBe(true)
})

test('a closed changeset has no effect to come, and an unseen one is not there', async () => {
  const { body } = await app.request('POST', at('/changesets'), { title: 'Empty', operations: [] })
  const effect = (send: Send) => send('GET', at(`/changesets/${body.$id}/effect`))

  expect((await effect(app.request)).body).toEqual({ metrics: [], aggregates: [] })
  await app.request('POST', at(`/changesets/${body.$id}/reject`))

  expect((await effect(app.request)).status).toBe(409)
  expect((await app.request('GET', at('/changesets/changeset_0000000000000000/effect'))).status).toBe(404)
})
