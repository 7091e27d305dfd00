import { OPERATOR } from '@tildebase/tenant'
import { expect, test } from 'vitest'
import { undo } from '../../packages/tenant/src/services/undo.ts'
import { openAcme } from '../tenant/fixture.ts'

test('an undo reads its events a few MiB at a time', () => {
  const { tenant, close } = openAcme()
  const description = 'x'.repeat(100_000)
  const create = (i: number) =>
    tenant.write(
      OPERATOR,
      (write) =>
        void tenant.runIn(write, { type: 'Organization', verb: 'create', data: { name: `o${i}`, description } }),
      { correlation: 'imported' },
    )
  for (let i = 0; i < 150; i++) create(i)
  const { sql } = tenant
  let largest = 0
  const rows = sql.rows.bind(sql)
  Object.assign(sql, {
    rows: (...question: Parameters<typeof rows>) => {
      const found = rows(...question)
      largest = Math.max(
        largest,
        found.flat().reduce((sum: number, value) => sum + (String(value).length || 0), 0),
      )
      return found
    },
  })

  const { undone } = tenant.write(OPERATOR, (write) => undo(write, 'imported'))

  expect(undone).toBe(150)
  expect(largest).toBeLessThan(6_000_000)
  close()
})
