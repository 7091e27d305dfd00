import { expect, test } from 'vitest'
import { rawMessage as raw, useMailbox } from './mailbox.ts'

const MAILBOX = 'desk@service.example'
const stage = useMailbox({
  username: MAILBOX,
  password: 'pass-1234567',
  settings: ({ url }) => ({ TILDE_SMTP_URL: url, TILDE_SMTP_FROM: 'The service <service@example.org>' }),
})
const { messages } = stage

test('what the service writes to a person, links that open accounts included, is given to no tenant', async () => {
  const person = { name: 'Bo', email: 'bo@desk.example', role: 'Admin' }
  const { body: user } = await stage.app.request('POST', '/~victim/User', person)
  const thief = stage.app.as(await stage.app.key('thief', 'admin:all'))
  const claimed = await thief('PUT', '/~thief/inbox', { addresses: ['bo@desk.example', 'eve@desk.example'] })

  await stage.app.request('POST', `/~victim/User/${user.$id}/invite`)
  const letters = () => stage.smtp.delivered.filter(({ to }) => to.includes('bo@desk.example'))
  await expect.poll(letters, { timeout: 5_000 }).toHaveLength(1)
  const notice = raw('x', 'bo@desk.example').replace('<x@', '<notice_1_2.victim@')
  stage.imap.messages.push(letters()[0]!.raw, notice, raw('after', 'eve@desk.example'))
  await expect.poll(() => messages('thief'), { timeout: 5_000 }).toContain('<after@example.org>')

  expect(claimed.status).toBe(200)
  expect(letters()[0]!.raw).toContain('tbi_')
  expect(await messages('thief')).toEqual(['<after@example.org>'])
})

test('only the operator gives a tenant the addresses of the service, to which bounces with links come back', async () => {
  const send = stage.app.as(await stage.app.key('bounced', 'admin:all'))
  const statuses = []
  for (const address of ['service@example.org', 'Service@Example.org', MAILBOX]) {
    statuses.push((await send('PUT', '/~bounced/inbox', { addresses: [address] })).status)
    const operation = { id: '1', method: 'PUT', path: '/inbox', body: { addresses: [address] } }
    statuses.push((await send('POST', '/~bounced/batch', { operations: [operation] })).body.results?.[0].status)
  }
  const given = await stage.app.request('PUT', '/~bounced/inbox', { addresses: ['service@example.org'] })
  const kept = await send('PUT', '/~bounced/inbox', { addresses: ['service@example.org', 'own@example.org'] })

  expect(statuses).toEqual(Array(6).fill(403))
  expect([given.status, kept.status]).toEqual([200, 200])
})
