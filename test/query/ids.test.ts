import { expect, test } from 'vitest'
import { OPERATOR } from '../../packages/tenant/src/grant/grant.ts'
import { findRows } from '../../packages/tenant/src/query/answer/find.ts'
import { filterOf } from '../../packages/tenant/src/query/parameters/filter.ts'
import { readContextOf } from '../../packages/tenant/src/query/read-context.ts'
import { openAcme } from '../tenant/fixture.ts'

test.each([
  ['now', false],
  ['as of an earlier event', true],
])('entities are found by a list of their ids with the index over ids, %s', (_, isPast) => {
  const { tenant } = openAcme()
  const create = (name: string) => tenant.act({ actor: 'test', type: 'Contact', verb: 'create', data: { name } })
  const ids = ['Ada', 'Bob', 'Cyd', 'Dan'].map((name) => create(name).entity.id)
  const asOf = isPast ? tenant.head.seq : null
  tenant.act({ actor: 'test', type: 'Contact', verb: 'update', id: ids[0]!, data: { name: 'Ann' } })
  const filter = filterOf(tenant.engine, tenant.engine.noun('Contact'), {
    $id: { $in: [ids[2], ids[0], ids[2], 'contact_none'] },
  })
  const texts: string[] = []
  const rows = tenant.sql.rows.bind(tenant.sql)
  tenant.sql.rows = (text, ...values) => {
    texts.push(text)
    return rows(text, ...values)
  }

  const page = findRows(readContextOf(tenant.engine, OPERATOR), { type: 'Contact', filter, asOf, limit: 10 })

  expect(page.results.map(({ data }) => JSON.parse(data).name)).toEqual(['Cyd', isPast ? 'Ada' : 'Ann'])
  const steps = texts
    .filter((text) => text.includes('entities e'))
    .map((text) => rows(`EXPLAIN QUERY PLAN ${text}`).map((step) => String(step[3])))
  expect(steps.length).toBeGreaterThan(0)
  for (const plan of steps) {
    expect(plan).toContain('SEARCH named USING COVERING INDEX entities_id (id=?)')
    expect(plan.find((step) => step.startsWith('SEARCH e '))).toMatch(/rowid=\?/)
  }
})
