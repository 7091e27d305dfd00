import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { openImap, type TestImap } from './imap.ts'
import { openSmtp, type TestSmtp } from './smtp.ts'

const MAILBOX = 'desk@service.example'
let imap: TestImap
let smtp: TestSmtp
let app: TestApp

beforeAll(async () => {
  imap = await openImap(MAILBOX, 'pass-1234567')
  smtp = await openSmtp()
  app = await testApp({
    TILDE_SMTP_URL: smtp.url,
    TILDE_SMTP_FROM: 'The service <service@example.org>',
    TILDE_IMAP_URL: `imap://${encodeURIComponent(MAILBOX)}:pass-1234567@127.0.0.1:${imap.port}`,
    TILDE_IMAP_INTERVAL: '100ms',
    TILDE_WEBHOOKS_INSECURE: '1',
  })
})

afterAll(async () => {
  await app.stop()
  await imap.close()
  await smtp.close()
})

const raw = (id: string, to: string) =>
  `From: Ada <ada@example.org>\r\nTo: ${to}\r\nSubject: Roof\r\nMessage-ID: <${id}@example.org>\r\n\r\nIt leaks.\r\n`

async function messages(tenant: string): Promise<string[]> {
  const { body } = await app.request('GET', `/~${tenant}/Message?sort=$createdAt`)
  return body.results.map((one: any) => one.messageId)
}

test('what the service writes to a person, links that open accounts included, is given to no tenant', async () => {
  const person = { name: 'Bo', email: 'bo@desk.example', role: 'Admin' }
  const { body: user } = await app.request('POST', '/~victim/User', person)
  const thief = app.as(await app.key('thief', 'admin:all'))
  const claimed = await thief('PUT', '/~thief/inbox', { addresses: ['bo@desk.example', 'eve@desk.example'] })

  await app.request('POST', `/~victim/User/${user.$id}/invite`)
  const letters = () => smtp.delivered.filter(({ to }) => to.includes('bo@desk.example'))
  await expect.poll(letters, { timeout: 5_000 }).toHaveLength(1)
  const notice = raw('x', 'bo@desk.example').replace('<x@', '<notice_1_2.victim@')
  imap.messages.push(letters()[0]!.raw, notice, raw('after', 'eve@desk.example'))
  await expect.poll(() => messages('thief'), { timeout: 5_000 }).toContain('<after@example.org>')

  expect(claimed.status).toBe(200)
  expect(letters()[0]!.raw).toContain('tbi_')
  expect(await messages('thief')).toEqual(['<after@example.org>'])
})

test('only the operator gives a tenant the addresses of the service, to which bounces with links come back', async () => {
  const send = app.as(await app.key('bounced', 'admin:all'))
  const statuses = []
  for (const address of ['service@example.org', 'Service@Example.org', MAILBOX]) {
    statuses.push((await send('PUT', '/~bounced/inbox', { addresses: [address] })).status)
    const operation = { id: '1', method: 'PUT', path: '/inbox', body: { addresses: [address] } }
    statuses.push((await send('POST', '/~bounced/batch', { operations: [operation] })).body.results?.[0].status)
  }
  const given = await app.request('PUT', '/~bounced/inbox', { addresses: ['service@example.org'] })
  const kept = await send('PUT', '/~bounced/inbox', { addresses: ['service@example.org', 'own@example.org'] })

  expect(statuses).toEqual(Array(6).fill(403))
  expect([given.status, kept.status]).toEqual([200, 200])
})
