import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'
import { openImap, type TestImap } from './imap.ts'
import { openSmtp, type TestSmtp } from './smtp.ts'

const CREDENTIALS = { username: 'desk@acme.example', password: 'pass-1234567' }
let imap: TestImap
let smtp: TestSmtp
let app: TestApp

beforeAll(async () => {
  const { username, password } = CREDENTIALS
  imap = await openImap(username, password)
  const onAuth = (auth: any, _: unknown, done: (error: Error | null, response?: object) => void) =>
    auth.username === username && auth.password === password ? done(null, { user: 'desk' }) : done(new Error('wrong'))
  const onRcptTo = ({ address }: { address: string }, _: unknown, done: (error?: Error) => void) =>
    address.startsWith('no') ? done(Object.assign(new Error('No such user'), { responseCode: 550 })) : done()
  const options = { disabledCommands: ['STARTTLS'], authOptional: true, allowInsecureAuth: true, onAuth, onRcptTo }
  smtp = await openSmtp(options)
  app = await testApp({
    TILDE_IMAP_URL: `imap://${encodeURIComponent(username)}:${password}@127.0.0.1:${imap.port}`,
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

async function integration(tenant: string, fields: object, credentials: object = CREDENTIALS) {
  const { body } = await app.request('POST', `/~${tenant}/Integration`, { name: 'Mail', ...fields })
  return {
    id: body.$id,
    connected: await app.request('POST', `/~${tenant}/Integration/${body.$id}/connect`, { credentials }),
  }
}

verifies('mail.mailbox', 'the mailbox of the service gives each message to the tenant of its recipient', async () => {
  await app.request('PUT', '/~north/inbox', { addresses: ['north@desk.example'], ticket: true })
  await app.request('PUT', '/~south/inbox', { addresses: ['south@desk.example'], ticket: false })
  const stolen = await app.request('PUT', '/~south/inbox', { addresses: ['north@desk.example'] })
  imap.messages.push(
    raw('1', 'Desk <NORTH@desk.example>'),
    raw('2', 'unknown@desk.example'),
    raw('3', 'x@desk.example\r\nDelivered-To: south@desk.example'),
    raw('4', 'north@desk.example,\r\n south@desk.example'),
    // An address in the text, or in a subject, names no recipient.
    `Subject: south@desk.example\r\n${raw('5', 'north@desk.example')}To: south@desk.example`,
  )

  await expect.poll(() => messages('north'), { timeout: 5_000 }).toHaveLength(3)
  await expect.poll(() => messages('south'), { timeout: 5_000 }).toHaveLength(2)
  expect(stolen.status).toBe(409)
  expect(await messages('north')).toEqual(['<1@example.org>', '<4@example.org>', '<5@example.org>'])
  expect(await messages('south')).toEqual(['<3@example.org>', '<4@example.org>'])
  const { body } = await app.request('GET', '/~north/Ticket')
  expect(body.total).toBe(3)
  // Nothing is marked or moved in the mailbox.
  expect(imap.commands.filter((command) => /^(?:SELECT|STORE|UID (?:STORE|MOVE|COPY)|EXPUNGE)/.test(command))).toEqual(
    [],
  )
})

verifies('mail.imap', 'an Integration fetches the mailbox of a tenant, each message once', async () => {
  imap.messages.splice(0, imap.messages.length, raw('6', 'a@x.example'), raw('7', 'a@x.example'))
  const address = { provider: 'imap', apiBaseUrl: `imap://127.0.0.1:${imap.port}` }
  const wrong = await integration('west', address, { ...CREDENTIALS, password: 'wrong-1234567' })
  const { id, connected } = await integration('west', address)

  expect([wrong.connected.status, connected.status]).toEqual([422, 200])
  await expect.poll(() => messages('west'), { timeout: 5_000 }).toHaveLength(2)
  imap.messages.push(raw('8', 'a@x.example'), raw('7', 'a@x.example'))
  await app.request('POST', `/~west/Integration/${id}/sync`, {})
  await expect.poll(() => messages('west'), { timeout: 5_000 }).toHaveLength(3)
  const synced = async () => (await app.request('GET', `/~west/Integration/${id}`)).body
  await expect.poll(async () => (await synced()).status, { timeout: 5_000 }).toBe('Synced')
  expect(await messages('west')).toEqual(['<6@example.org>', '<7@example.org>', '<8@example.org>'])
  expect(JSON.stringify(await synced()) + app.stored()).not.toContain(CREDENTIALS.password)
})

test('a message that the rules of the tenant refuse is left out, and those after it arrive', async () => {
  const code = `(message) => { if (message.subject === 'Bad') throw new Error('Not here') }`
  await app.request('PUT', '/~wary/schema/Message/hooks/creating', { code })
  const bad = raw('10', 'a@x.example').replace('Subject: Roof', 'Subject: Bad')
  imap.messages.splice(0, imap.messages.length, raw('9', 'a@x.example'), bad, raw('11', 'a@x.example'))
  const { id } = await integration('wary', { provider: 'imap', apiBaseUrl: `imap://127.0.0.1:${imap.port}` })
  const runs = async () => (await app.request('GET', '/~wary/events?type=Integration.synced')).body.results

  await expect.poll(async () => (await runs()).length, { timeout: 5_000 }).toBeGreaterThan(0)
  await app.request('POST', `/~wary/Integration/${id}/sync`, {})
  await expect.poll(async () => (await runs()).length, { timeout: 5_000 }).toBeGreaterThan(1)

  expect(await messages('wary')).toEqual(['<9@example.org>', '<11@example.org>'])
  const [first, second] = await runs()
  expect(first.args).toMatchObject({ created: 2, failed: 1 })
  expect(second.args).toMatchObject({ created: 0, failed: 0 })
})

test('a lesser key neither schedules the Integration of an administrator nor brings its schedule back', async () => {
  const { id } = await integration('guarded', { provider: 'imap', apiBaseUrl: `imap://127.0.0.1:${imap.port}` })
  const path = `/~guarded/Integration/${id}`
  await app.request('PUT', path, { schedule: '0 0 1 1 *' })
  const { seq } = (await app.request('GET', '/~guarded/status')).body.log
  await app.request('PUT', path, { schedule: null })
  const lesser = app.as(await app.key('guarded', 'write:platform'))

  const statuses = [
    await lesser('PUT', path, { schedule: '* * * * *' }),
    await lesser('POST', `${path}/rollback`, { asOf: String(seq) }),
    await lesser('POST', `${path}/sync`, {}),
    await lesser('PUT', path, { description: 'Ours' }),
    await app.request('PUT', path, { schedule: '0 0 2 1 *' }),
  ].map(({ status }) => status)

  expect(statuses).toEqual([403, 403, 403, 200, 200])
})

verifies('mail.smtp', 'an Integration sends by the mail server of a tenant; a refused recipient is named', async () => {
  const address = { provider: 'smtp', apiBaseUrl: smtp.url }
  const wrong = await integration('east', address, { ...CREDENTIALS, password: 'wrong-1234567' })
  const { connected } = await integration('east', address)
  const draft = { channel: 'Email', subject: 'Hi', body: 'Hello', to: ['ada@example.org', 'none@example.org'] }
  const { body } = await app.request('POST', '/~east/Message', draft)
  await app.request('POST', `/~east/Message/${body.$id}/send`, {})
  const message = async () => (await app.request('GET', `/~east/Message/${body.$id}`)).body

  expect([wrong.connected.status, connected.status]).toEqual([422, 200])
  await expect.poll(async () => (await message()).status, { timeout: 5_000 }).toBe('Delivered')
  expect(smtp.delivered.map(({ from, to }) => [from, to])).toEqual([[CREDENTIALS.username, ['ada@example.org']]])
  expect((await message()).error).toMatch(/^Refused for none@example\.org \(550/)
})

test('a message whose recipients are all refused fails', async () => {
  const { body } = await app.request('POST', '/~east/Message', { channel: 'Email', body: 'x', to: ['no@example.org'] })
  await app.request('POST', `/~east/Message/${body.$id}/send`, {})
  const message = async () => (await app.request('GET', `/~east/Message/${body.$id}`)).body

  await expect.poll(async () => (await message()).status, { timeout: 5_000 }).toBe('Failed')
  expect((await message()).error).toContain('550')
})
