import { expect, test } from 'vitest'
import { rawMessage as raw, useMailbox } from './mailbox.ts'

const stage = useMailbox({
  username: 'desk@service.example',
  password: 'pass-1234567',
  settings: () => ({ TILDE_TENANT_LIMIT: '1MiB' }),
})
const { messages } = stage

test('a tenant without room does not hold up the messages of others', async () => {
  const { request } = stage.app
  await request('PUT', '/~full/inbox', { addresses: ['full@desk.example'] })
  await request('PUT', '/~calm/inbox', { addresses: ['calm@desk.example'] })
  const description = 'x'.repeat(200_000)
  let status = 201
  while (status === 201) ({ status } = await request('POST', '/~full/Organization', { name: 'o', description }))

  stage.imap.messages.push(raw('refused', 'full@desk.example'), raw('next', 'calm@desk.example'))
  await expect.poll(() => messages('calm'), { timeout: 10_000 }).toEqual(['<next@example.org>'])

  expect(status).toBe(507)
  expect(await messages('full')).toEqual([])
}, 30_000)
