import { beforeAll, expect, test } from 'vitest'
import { Budget } from '../../packages/tenant/src/budget.ts'
import { OPERATOR } from '../../packages/tenant/src/grant/grant.ts'
import { find } from '../../packages/tenant/src/query/answer/find.ts'
import { countInSlices } from '../../packages/tenant/src/query/answer/find-in-slices.ts'
import { filterOf } from '../../packages/tenant/src/query/parameters/filter.ts'
import { explain } from '../../packages/tenant/src/query/plan/explain.ts'
import { readContextOf } from '../../packages/tenant/src/query/read-context.ts'
import { openAcme } from '../tenant/fixture.ts'

const CONTACTS = 2_000
const { tenant } = openAcme()
const rows = tenant.sql.rows.bind(tenant.sql)

beforeAll(() => {
  for (let i = 0; i < CONTACTS; i++) {
    const data = { name: `Contact ${i}`, title: `Title ${i % 7}` }
    const { entity } = tenant.act({ actor: 'test', type: 'Contact', verb: 'create', data })
    if (i % 4 > 0) continue
    const deal = { name: `Deal ${i}`, value: i, contact: entity.id }
    tenant.act({ actor: 'test', type: 'Deal', verb: 'create', data: deal })
  }
})

/** Counts slice by slice where each statement takes so many milliseconds, and its rows; with the texts of the slices. */
function counted(type: string, filter: object, { asOf = null, ms = 0 }: { asOf?: number | null; ms?: number } = {}) {
  let now = 0
  const texts: string[] = []
  tenant.sql.rows = (text, ...values) => {
    texts.push(text)
    const found = rows(text, ...values)
    now += ms + found.length / 1_000
    return found
  }
  const most = Number.POSITIVE_INFINITY
  const reader = readContextOf(tenant.engine, OPERATOR, new Budget({ ms: most, rows: most, bytes: most }, () => now))
  const query = { type, filter: filterOf(tenant.engine, tenant.engine.noun(type), filter), asOf }
  const steps = countInSlices(reader, query)
  let step = steps.next()
  for (; !step.done; step = steps.next());
  tenant.sql.rows = rows
  return { total: step.value, slices: texts.filter((text) => / (e\.n|e\.seq) < \?/.test(text)) }
}

test('a slice of the past reads its own places and no others', () => {
  const asOf = tenant.head.seq
  const { total, slices } = counted('Contact', { title: 'Title 3' }, { asOf })

  expect(total).toBe(286)
  for (const text of slices) {
    expect(text.match(/[^+]e\.n <=? \?/g)).toHaveLength(1)
    expect(rows(`EXPLAIN QUERY PLAN ${text}`).map((step) => step[3])).toContain(
      'SEARCH e USING INDEX entities_type (type=? AND gone=? AND rowid>? AND rowid<?)',
    )
  }
})

test('a slice of the log of a past time reads its own events and no others', () => {
  const { total, slices } = counted('Event', { name: { $regex: 'Deal.created$' } }, { asOf: tenant.head.seq })

  expect(total).toBe(CONTACTS / 4)
  for (const text of slices) expect(text.match(/[^+]e\.seq <=? \?/g)).toHaveLength(1)
})

test.each([
  ['now', false],
  ['as of an earlier time', true],
])('an or of indexed fields is looked up in the index, %s', (_, isPast) => {
  const asOf = isPast ? tenant.head.seq : null
  const reader = readContextOf(tenant.engine, OPERATOR)
  const [deal] = find(reader, { type: 'Deal', limit: 1 }).results
  const { contact } = JSON.parse(deal!.data)
  const or = [{ contact }, { contact, value: { $lt: 5 } }, { organization: 'organization_none' }]
  const filter = filterOf(tenant.engine, tenant.engine.noun('Deal'), { $or: or })

  const { through, steps } = explain(reader, { type: 'Deal', filter, asOf })

  expect(through).toBe('several indexed fields')
  expect(steps.join()).not.toContain('entities_type')
  expect(find(reader, { type: 'Deal', filter, asOf }).results.map(({ id }) => id)).toEqual([deal!.id])
})

test('slices are not so narrow that each does little but find what a relation leads to', () => {
  const { total, slices } = counted('Contact', { 'deals.value': { $gte: 1_000 } }, { ms: 30 })

  expect(total).toBe(250)
  expect(slices.length).toBeLessThan(10)
})
