import { OPERATOR } from '@tildebase/tenant'
import { expect, test } from 'vitest'
import { sealedEvent } from '../../packages/tenant/src/services/portable/chain.ts'
import { BEGINNING, readLog } from '../../packages/tenant/src/store/log/log.ts'
import { eventView } from '../../packages/tenant/src/view/event.ts'
import { openAcme } from './fixture.ts'

test('an event says for whom its actor acted, and the chain covers it', () => {
  const { tenant } = openAcme()
  tenant.run({ ...OPERATOR, onBehalfOf: 'apiKey_agent' }, { type: 'Contact', verb: 'create', data: { name: 'Ada' } })
  tenant.run(OPERATOR, { type: 'Contact', verb: 'create', data: { name: 'Bob' } })

  const [first, second] = readLog(tenant.sql, 0, 2).map((row) => eventView(row, tenant.engine))
  const [line] = [...tenant.facade.admin.log({ after: 0, beside: 'none' })].join('').split('\n').slice(1)
  const { seal } = tenant.engine.ports

  expect(first).toMatchObject({ actor: 'operator', onBehalfOf: 'apiKey_agent' })
  expect(second).not.toHaveProperty('onBehalfOf')
  expect(tenant.facade.admin.verify()).toMatchObject({ ok: true })
  expect(sealedEvent(seal, BEGINNING, JSON.parse(line!)).onBehalfOf).toBe('apiKey_agent')
  expect(() => sealedEvent(seal, BEGINNING, { ...JSON.parse(line!), onBehalfOf: 'apiKey_other' })).toThrow(/chain/)
  expect(() =>
    tenant.sql.run(`UPDATE log SET on_behalf_of = 7, data = NULL, salt = NULL, digest = zeroblob(32)`),
  ).toThrow(/append-only/)
})
