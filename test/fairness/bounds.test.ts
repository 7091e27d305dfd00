import { OPERATOR } from '@tildebase/tenant'
import { expect, test } from 'vitest'
import { putType } from '../../packages/tenant/src/services/types/schema.ts'
import { openAcme } from '../tenant/fixture.ts'

test('the declarations of a tenant have 2,000,000 characters at most', () => {
  const { tenant, close } = openAcme()
  const declare = (name: string) =>
    tenant.write(OPERATOR, (write) => putType(write, name, { name: `string = ${'x'.repeat(60_000)}` }))
  for (let i = 0; i < 33; i++) declare(`T${i}`)

  expect(() => declare('More')).toThrow('2000000 characters together')
  close()
})

test('a tenant has 500 webhooks at most', () => {
  const { tenant, close } = openAcme()
  const data = { url: 'https://example.com/hook', events: ['Contact.created'] }
  const create = (count: number) =>
    tenant.write(OPERATOR, (write) => {
      for (let i = 0; i < count; i++) tenant.runIn(write, { type: 'Webhook', verb: 'create', data })
    })
  create(500)

  expect(() => create(1)).toThrow('A tenant can have 500 webhooks.')
  close()
}, 60_000)
