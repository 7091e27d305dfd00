import { isoOf } from '@tildebase/nouns'
import { type Grant, OPERATOR } from '@tildebase/tenant'
import { expect, test } from 'vitest'
import { systemSeal } from '../../packages/server/src/host/ports.ts'
import { readOperation } from '../../packages/tenant/src/services/session.ts'
import { verifies } from '../verifies.ts'
import { openAcme, pseudo, type TestTenant } from './fixture.ts'

const create = (tenant: TestTenant, data: object = {}, grant: Grant = OPERATOR) =>
  tenant.run(grant, { type: 'ApiKey', verb: 'create', data: { name: 'k', ...data } })

verifies(['key.prefix.redraw', 'key.prefix.unique'], 'a prefix that is taken is drawn again', () => {
  const { tenant } = openAcme()
  const { secret: first } = create(tenant)
  // Chance that begins again as it began for the first key.
  let draws = 0
  const random = { bytes: (count: number) => (++draws <= 1 ? pseudo(7)(count) : pseudo(8)(count)) }
  const twin = openAcme()
  twin.tenant.equip({ random: { bytes: pseudo(7) } })

  expect(create(twin.tenant).secret).toBe(first)
  twin.tenant.equip({ random })
  const { secret: second, entity } = create(twin.tenant)

  expect(second!.slice(0, 8)).not.toBe(first!.slice(0, 8))
  expect(JSON.parse(entity.data).keyPrefix).toBe(second!.slice(0, 8))
  expect(() =>
    twin.tenant.sql.run(
      'INSERT INTO keys (id, prefix, hash) VALUES (?, ?, ?)',
      'x',
      first!.slice(0, 8),
      new Uint8Array(32),
    ),
  ).toThrow(/UNIQUE/)
})

verifies('key.timing', 'secrets are compared as digests, by the comparison whose time tells nothing', () => {
  const { tenant } = openAcme()
  const { secret } = create(tenant)
  const compared: [number, number][] = []
  tenant.equip({
    seal: {
      ...systemSeal,
      equal: (a, b) => {
        compared.push([a.length, b.length])
        return systemSeal.equal(a, b)
      },
    },
  })

  expect(tenant.services.keys.grantOf(secret!)).not.toBeNull()
  expect(tenant.services.keys.grantOf(`${secret!.slice(0, 20)}${'x'.repeat(secret!.length - 25)}~acme`)).toBeNull()
  expect(compared).toEqual([
    [32, 32],
    [32, 32],
  ])
})

test('a key made by a narrowed key is narrowed at least as much', () => {
  const { tenant } = openAcme()
  for (const name of ['Ada', 'Bob']) {
    for (const stage of ['Lead', 'Qualified'])
      tenant.run(OPERATOR, { type: 'Contact', verb: 'create', data: { name, stage } })
  }
  const keyOf = (rows: object | null, maker?: Grant) =>
    tenant.services.keys.grantOf(create(tenant, rows ? { filter: rows } : {}, maker).secret!)!
  const seen = (grant: Grant) =>
    (readOperation({ engine: tenant.engine, grant }, 'Contact', 'find', [{}]) as any[])
      .map(({ name, stage }) => `${name} ${stage}`)
      .sort()

  const leads = keyOf({ Contact: { stage: 'Lead' } })
  const adas = keyOf({ Contact: { name: 'Ada' } })

  expect(seen(leads)).toEqual(['Ada Lead', 'Bob Lead'])
  expect(seen(adas)).toEqual(['Ada Lead', 'Ada Qualified'])
  expect(seen(keyOf(null, leads))).toEqual(seen(leads))
  expect(seen(keyOf({ Deal: { name: 'x' } }, leads))).toEqual(seen(leads))
  expect(seen(keyOf({ contacts: { name: 'Ada' } }, leads))).toEqual(['Ada Lead'])
})

test('a time in a row filter that is relative to now moves on', () => {
  const { tenant, clock } = openAcme()
  const dueAt = isoOf(clock.at + 1_000)
  tenant.run(OPERATOR, { type: 'Activity', verb: 'create', data: { subject: 'Call', dueAt } })
  const grant: Grant = { ...OPERATOR, actor: 'key', rows: { Activity: { dueAt: { $lt: 'now' } } } }
  const count = () => readOperation({ engine: tenant.engine, grant }, 'Activity', 'count', [{}])

  const before = count()
  clock.at += 2_000

  expect([before, count()]).toEqual([0, 1])
})

test('a narrowed key brings back what it deleted, and nothing else', () => {
  const { tenant } = openAcme()
  const grant: Grant = { ...OPERATOR, actor: 'key', rows: { Contact: { stage: 'Lead' } } }
  const make = (stage: string) =>
    tenant.run(OPERATOR, { type: 'Contact', verb: 'create', data: { name: 'Ada', stage } }).entity.id
  const [own, other] = [make('Lead'), make('Partner')]
  for (const id of [own, other]) tenant.run(OPERATOR, { type: 'Contact', verb: 'delete', id })
  const restore = (id: string) => tenant.run(grant, { type: 'Contact', verb: 'restore', id })

  expect(restore(own).entity.version).toBe(3)
  expect(() => restore(other)).toThrow(expect.objectContaining({ code: 'not_found' }))
  expect(readOperation({ engine: tenant.engine, grant: OPERATOR }, 'Contact', 'count', [{}])).toBe(1)
})

test('a filter that cannot be is refused, and that of a key never changes', () => {
  const { tenant } = openAcme()
  const { entity } = create(tenant, { filter: { Contact: { stage: 'Lead' } } })
  const update = (data: object) => () => tenant.run(OPERATOR, { type: 'ApiKey', verb: 'update', id: entity.id, data })

  expect(() => create(tenant, { filter: { Contact: { name: { $near: 1 } } } })).toThrow(/filter.Contact/)
  expect(() => create(tenant, { filter: { Nothing: {} } })).toThrow(/filter.Nothing/)
  expect(() => create(tenant, { filter: { Contact: { $and: [{ $text: 'Ada' }] } } })).toThrow(/\$text/)
  expect(update({ filter: {} })).toThrow(/filter/)
  expect(update({ expiresAt: isoOf(0) })).toThrow(/expiresAt/)
})

test('a key ends at its time, is Expired then, and is not looked at again', async () => {
  const { tenant, clock, alarms } = openAcme()
  const end = clock.at + 1_000
  const [key, revoked] = [create(tenant, { expiresAt: isoOf(end) }), create(tenant, { expiresAt: isoOf(end) })]
  tenant.run(OPERATOR, { type: 'ApiKey', verb: 'revoke', id: revoked.entity.id })
  const status = (id: string) =>
    (readOperation({ engine: tenant.engine, grant: OPERATOR }, 'ApiKey', 'get', [id]) as any).status
  const held = tenant.services.keys.grantOf(key.secret!)!

  clock.at = end - 1
  expect([tenant.services.keys.grantOf(key.secret!), tenant.services.keys.renew(held)]).not.toContain(null)
  clock.at = end
  expect([tenant.services.keys.grantOf(key.secret!), tenant.services.keys.renew(held)]).toEqual([null, null])
  expect(alarms).toContain(end)
  await tenant.wake()

  expect([status(key.entity.id), status(revoked.entity.id)]).toEqual(['Expired', 'Revoked'])
  clock.at += 3_600_000
  const { seq } = tenant.head
  await tenant.wake()
  expect([tenant.head.seq, tenant.facade.due()]).toEqual([seq, null])
})
