import { expect, test } from 'vitest'
import { verifies } from '../verifies.ts'
import { rawMessage as raw, useMailbox } from './mailbox.ts'

const CREDENTIALS = { username: 'desk@acme.example', password: 'pass-1234567' }

const stage = useMailbox({
  ...CREDENTIALS,
  smtp: {
    disabledCommands: ['STARTTLS'],
    authOptional: true,
    allowInsecureAuth: true,
    onAuth({ username, password }: any, _: unknown, done: (error: Error | null, response?: object) => void) {
      const isRight = username === CREDENTIALS.username && password === CREDENTIALS.password
      return isRight ? done(null, { user: 'desk' }) : done(new Error('wrong'))
    },
    onRcptTo({ address }: { address: string }, _: unknown, done: (error?: Error) => void) {
      const refusal = Object.assign(new Error('No such user'), { responseCode: 550 })
      return done(address.startsWith('no') ? refusal : undefined)
    },
  },
})
const { messages } = stage

async function integration(tenant: string, fields: object, credentials: object = CREDENTIALS) {
  const { body } = await stage.app.request('POST', `/~${tenant}/Integration`, { name: 'Mail', ...fields })
  return {
    id: body.$id,
    connected: await stage.app.request('POST', `/~${tenant}/Integration/${body.$id}/connect`, { credentials }),
  }
}

verifies('mail.mailbox', 'the mailbox of the service gives each message to the tenant of its recipient', async () => {
  await stage.app.request('PUT', '/~north/inbox', { addresses: ['north@desk.example'], ticket: true })
  await stage.app.request('PUT', '/~south/inbox', { addresses: ['south@desk.example'], ticket: false })
  const stolen = await stage.app.request('PUT', '/~south/inbox', { addresses: ['north@desk.example'] })
  stage.imap.messages.push(
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
  const { body } = await stage.app.request('GET', '/~north/Ticket')
  expect(body.total).toBe(3)
  // Nothing is marked or moved in the mailbox.
  expect(
    stage.imap.commands.filter((command) => /^(?:SELECT|STORE|UID (?:STORE|MOVE|COPY)|EXPUNGE)/.test(command)),
  ).toEqual([])
})

verifies('mail.imap', 'an Integration fetches the mailbox of a tenant, each message once', async () => {
  stage.imap.messages.splice(0, stage.imap.messages.length, raw('6', 'a@x.example'), raw('7', 'a@x.example'))
  const address = { provider: 'imap', apiBaseUrl: `imap://127.0.0.1:${stage.imap.port}` }
  const wrong = await integration('west', address, { ...CREDENTIALS, password: 'wrong-1234567' })
  const { id, connected } = await integration('west', address)

  expect([wrong.connected.status, connected.status]).toEqual([422, 200])
  await expect.poll(() => messages('west'), { timeout: 5_000 }).toHaveLength(2)
  stage.imap.messages.push(raw('8', 'a@x.example'), raw('7', 'a@x.example'))
  await stage.app.request('POST', `/~west/Integration/${id}/sync`, {})
  await expect.poll(() => messages('west'), { timeout: 5_000 }).toHaveLength(3)
  const synced = async () => (await stage.app.request('GET', `/~west/Integration/${id}`)).body
  await expect.poll(async () => (await synced()).status, { timeout: 5_000 }).toBe('Synced')
  expect(await messages('west')).toEqual(['<6@example.org>', '<7@example.org>', '<8@example.org>'])
  expect(JSON.stringify(await synced()) + stage.app.stored()).not.toContain(CREDENTIALS.password)
})

test('a message that the rules of the tenant refuse is left out, and those after it arrive', async () => {
  const code = `(message) => { if (message.subject === 'Bad') throw new Error('Not here') }`
  await stage.app.request('PUT', '/~wary/schema/Message/hooks/creating', { code })
  const bad = raw('10', 'a@x.example').replace('Subject: Roof', 'Subject: Bad')
  stage.imap.messages.splice(0, stage.imap.messages.length, raw('9', 'a@x.example'), bad, raw('11', 'a@x.example'))
  const { id } = await integration('wary', { provider: 'imap', apiBaseUrl: `imap://127.0.0.1:${stage.imap.port}` })
  const runs = async () => (await stage.app.request('GET', '/~wary/events?type=Integration.synced')).body.results

  await expect.poll(async () => (await runs()).length, { timeout: 5_000 }).toBeGreaterThan(0)
  await stage.app.request('POST', `/~wary/Integration/${id}/sync`, {})
  await expect.poll(async () => (await runs()).length, { timeout: 5_000 }).toBeGreaterThan(1)

  expect(await messages('wary')).toEqual(['<9@example.org>', '<11@example.org>'])
  const [first, second] = await runs()
  expect(first.args).toMatchObject({ created: 2, failed: 1 })
  expect(second.args).toMatchObject({ created: 0, failed: 0 })
})

test('a lesser key neither schedules the Integration of an administrator nor brings its schedule back', async () => {
  const { id } = await integration('guarded', { provider: 'imap', apiBaseUrl: `imap://127.0.0.1:${stage.imap.port}` })
  const path = `/~guarded/Integration/${id}`
  await stage.app.request('PUT', path, { schedule: '0 0 1 1 *' })
  const { seq } = (await stage.app.request('GET', '/~guarded/status')).body.log
  await stage.app.request('PUT', path, { schedule: null })
  const lesser = stage.app.as(await stage.app.key('guarded', 'write:platform'))

  const statuses = [
    await lesser('PUT', path, { schedule: '* * * * *' }),
    await lesser('POST', `${path}/rollback`, { asOf: String(seq) }),
    await lesser('POST', `${path}/sync`, {}),
    await lesser('PUT', path, { description: 'Ours' }),
    await stage.app.request('PUT', path, { schedule: '0 0 2 1 *' }),
  ].map(({ status }) => status)

  expect(statuses).toEqual([403, 403, 403, 200, 200])
})

verifies('mail.smtp', 'an Integration sends by the mail server of a tenant; a refused recipient is named', async () => {
  const address = { provider: 'smtp', apiBaseUrl: stage.smtp.url }
  const wrong = await integration('east', address, { ...CREDENTIALS, password: 'wrong-1234567' })
  const { connected } = await integration('east', address)
  const draft = { channel: 'Email', subject: 'Hi', body: 'Hello', to: ['ada@example.org', 'none@example.org'] }
  const { body } = await stage.app.request('POST', '/~east/Message', draft)
  await stage.app.request('POST', `/~east/Message/${body.$id}/send`, {})
  const message = async () => (await stage.app.request('GET', `/~east/Message/${body.$id}`)).body

  expect([wrong.connected.status, connected.status]).toEqual([422, 200])
  await expect.poll(async () => (await message()).status, { timeout: 5_000 }).toBe('Delivered')
  expect(stage.smtp.delivered.map(({ from, to }) => [from, to])).toEqual([[CREDENTIALS.username, ['ada@example.org']]])
  expect((await message()).error).toMatch(/^Refused for none@example\.org \(550/)
})

test('a message whose recipients are all refused fails', async () => {
  const { body } = await stage.app.request('POST', '/~east/Message', {
    channel: 'Email',
    body: 'x',
    to: ['no@example.org'],
  })
  await stage.app.request('POST', `/~east/Message/${body.$id}/send`, {})
  const message = async () => (await stage.app.request('GET', `/~east/Message/${body.$id}`)).body

  await expect.poll(async () => (await message()).status, { timeout: 5_000 }).toBe('Failed')
  expect((await message()).error).toContain('550')
})
