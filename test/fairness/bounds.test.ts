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

test.each([
  { type: 'Webhook', many: 'webhooks', data: { url: 'https://example.com/hook', events: ['Contact.created'] } },
  {
    type: 'Workflow',
    many: 'workflows',
    data: {
      name: 'Late',
      triggerEvent: 'Contact.created',
      steps: [{ type: 'Deal', verb: 'create', args: { name: 'Engine' } }],
    },
  },
])('a tenant has 500 $many at most', { timeout: 60_000 }, ({ type, many, data }) => {
  const { tenant, close } = openAcme()
  const create = (count: number) =>
    tenant.write(OPERATOR, (write) => {
      for (let i = 0; i < count; i++) tenant.runIn(write, { type, verb: 'create', data })
    })
  create(500)

  expect(() => create(1)).toThrow(`A tenant can have 500 ${many}.`)
  close()
})
