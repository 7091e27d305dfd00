import { grantOf, OPERATOR, perform } from '@tildebase/tenant'
import { expect } from 'vitest'
import { systemSeal } from '../../packages/server/src/node/ports.ts'
import { verifies } from '../verifies.ts'
import { openAcme, pseudo } from './fixture.ts'

const create = (tenant: ReturnType<typeof openAcme>['tenant']) =>
  perform(tenant, OPERATOR, { type: 'ApiKey', verb: 'create', data: { name: 'k' } })

verifies(['key.prefix.redraw', 'key.prefix.unique'], 'a prefix that is taken is drawn again', () => {
  const { tenant } = openAcme()
  const { secret: first } = create(tenant)
  // Chance that begins again as it began for the first key.
  let draws = 0
  const random = { bytes: (count: number) => (++draws <= 1 ? pseudo(7)(count) : pseudo(8)(count)) }
  const twin = openAcme()
  twin.tenant.ports = { ...twin.tenant.ports, random: { bytes: pseudo(7) } }

  expect(create(twin.tenant).secret).toBe(first)
  twin.tenant.ports = { ...twin.tenant.ports, random }
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
  tenant.ports = {
    ...tenant.ports,
    seal: {
      ...systemSeal,
      equal: (a, b) => {
        compared.push([a.length, b.length])
        return systemSeal.equal(a, b)
      },
    },
  }

  expect(grantOf(tenant, secret!)).not.toBeNull()
  expect(grantOf(tenant, `${secret!.slice(0, 20)}${'x'.repeat(secret!.length - 25)}~acme`)).toBeNull()
  expect(compared).toEqual([
    [32, 32],
    [32, 32],
  ])
})
