import { OPERATOR, perform } from '@tildebase/tenant'
import { expect, test } from 'vitest'
import { openAcme } from './fixture.ts'

const QUIET = 300

test('new words are folded into the text index once writing pauses', () => {
  const { tenant, clock } = openAcme()

  tenant.act({ type: 'Contact', verb: 'create', data: { name: 'Ada' }, actor: 'system' })

  expect(tenant.due()).toBe(clock.at + QUIET)
})

test('where writing does not pause and much is outstanding, they are folded in beside it', async () => {
  const { tenant, clock } = openAcme()
  tenant.transaction(() => {
    for (let i = 0; i <= 10_000; i++)
      perform(tenant, OPERATOR, { type: 'Contact', verb: 'create', data: { name: `Ada ${i}` } })
  })

  expect(tenant.due()).toBe(clock.at)
  await tenant.wake()
  expect(tenant.due()).toBe(clock.at + QUIET)
})
