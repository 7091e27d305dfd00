import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { connect } from '../people/agents.ts'
import { person } from '../people/people.ts'
import { openSmtp, type TestSmtp } from './smtp.ts'

const DESK = 'desk@acme.example'
const EVE = 'eve@elsewhere.example'
let smtp: TestSmtp
let app: TestApp

beforeAll(async () => {
  smtp = await openSmtp()
  app = await testApp({
    TILDE_SMTP_URL: smtp.url,
    TILDE_SMTP_FROM: 'service@example.org',
    TILDE_WEBHOOKS_INSECURE: '1',
    TILDE_WEBHOOK_RETRIES: '10ms',
  })
})

afterAll(async () => {
  await app.stop()
  await smtp.close()
})

let count = 0

async function open() {
  const root = `/~hostile-mail-${++count}`
  await app.request('PUT', `${root}/inbox`, { addresses: [DESK], ticket: true })
  return {
    create: async (fields: object) =>
      (await app.request('POST', `${root}/Message`, { channel: 'Email', body: 'Hello', ...fields })).body.$id as string,
    take: (headers: Record<string, string>) => {
      const all = { From: 'Ada <ada@example.org>', To: DESK, ...headers }
      const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
      return app.request('POST', `${root}/inbox/email`, `${head.join('')}\r\nHello`, {
        'content-type': 'message/rfc822',
      })
    },
    get: async (path: string) => (await app.request('GET', `${root}/${path}`)).body,
    run: (path: string, body: unknown = {}) => app.request('POST', `${root}/${path}`, body),
    async settled(id: string): Promise<any> {
      for (let i = 0; i < 500; i++) {
        const { body } = await app.request('GET', `${root}/Message/${id}`)
        if (body.status !== 'Queued') return body
        await new Promise((done) => setTimeout(done, 10))
      }
      throw new Error('The message stays queued.')
    },
  }
}

test.each([
  ['from', { from: `${EVE}, Acme <${DESK}>` }],
  ['from', { from: `${EVE}; <${DESK}>` }],
  ['from', { from: `Group: ${EVE}; <${DESK}>` }],
  ['from', { from: `"x\\" , ${EVE} <${DESK}>` }],
  ['to', { to: [`${EVE}, Ada <ada@example.org>`] }],
  ['cc', { to: ['ada@example.org'], cc: [`"Bo" ${EVE}, <bo@example.org>`] }],
  ['replyTo', { replyTo: `${EVE}, Ada <ada@example.org>` }],
])('a name before an address hides no other address: %s', async (field, fields) => {
  const { create, run, get } = await open()
  const before = smtp.delivered.length

  const id = await create({ to: ['ada@example.org'], ...fields })
  const { status, body } = await run(`Message/${id}/send`)

  expect([status, body.details?.[0]?.field.split('.')[0]]).toEqual([422, field])
  expect((await get(`Message/${id}`)).status).toBe('Draft')
  expect(smtp.delivered).toHaveLength(before)
})

test('a name in quotes may have a comma', async () => {
  const { create, run, settled } = await open()
  const before = smtp.delivered.length

  const id = await create({ to: ['"Lovelace, Ada" <ada@example.org>'], from: `"Desk, Acme" <${DESK}>` })
  await run(`Message/${id}/send`)

  expect((await settled(id)).status).toBe('Delivered')
  expect(smtp.delivered.slice(before)).toMatchObject([{ from: DESK, to: ['ada@example.org'] }])
})

test('a queued message that becomes one from another sender is not sent', async () => {
  const { create, run, settled } = await open()
  const id = await create({ to: ['ada@example.org'], from: DESK })
  const before = smtp.delivered.length

  const { body } = await run('batch', {
    atomic: true,
    operations: [
      { method: 'POST', path: `Message/${id}/send` },
      { method: 'PUT', path: `Message/${id}`, body: { from: EVE } },
    ],
  })

  expect(body.results?.map(({ status }: any) => status)).toEqual([200, 200])
  const { status, error } = await settled(id)
  expect(status).toBe('Failed')
  expect(error).toContain('from: must be an address of the inbox')
  expect(smtp.delivered).toHaveLength(before)
})

test('an answer goes to the requester of the Ticket, not to another person who wrote into its thread', async () => {
  const { take, run, get } = await open()
  await take({ Subject: 'Help', 'Message-ID': '<1@example.org>' })
  const [ticket] = (await get('Ticket')).results
  await take({ From: `Eve <${EVE}>`, Subject: 'Re: Help', 'Message-ID': '<2@e>', References: '<1@example.org>' })
  const before = smtp.delivered.length

  const { status, text } = await run(`Ticket/${ticket.$id}/reply`, { body: 'Your new code is 1234' })

  expect(status, text).toBe(200)
  expect((await smtp.until(before + 1)).slice(before)).toMatchObject([{ from: DESK, to: ['ada@example.org'] }])
})

test('a forged sender with another Reply-To gets no answers to the questions of that Contact', async () => {
  const { take, run, get } = await open()
  await take({ Subject: 'Help', 'Message-ID': '<1@example.org>' })
  const [ticket] = (await get('Ticket')).results
  const forged = { 'Reply-To': EVE, Subject: 'Re: Help', 'Message-ID': '<2@e>', References: '<1@example.org>' }
  await take(forged)
  const before = smtp.delivered.length

  await run(`Ticket/${ticket.$id}/reply`, { body: 'Your new code is 1234' })

  expect((await smtp.until(before + 1)).slice(before)).toMatchObject([{ to: ['ada@example.org'] }])
})

test('the requester of a Ticket is the Contact of Reply-To, not a sender that may be forged', async () => {
  const { take, run, get } = await open()
  await take({ 'Reply-To': `Ada <${EVE}>`, Subject: 'My number?', 'Message-ID': '<1@e>' })
  const [ticket] = (await get('Ticket?include=requester')).results
  const before = smtp.delivered.length

  await run(`Ticket/${ticket.$id}/reply`, { body: 'It is 1234' })

  expect(ticket.requester.email).toBe(EVE)
  expect((await smtp.until(before + 1)).slice(before)).toMatchObject([{ to: [EVE] }])
  expect((await get('Message?direction=In&include=sender')).results[0].sender.email).toBe('ada@example.org')
})

test('a message whose Reply-To is our own address is answered to its sender', async () => {
  const { take, run, get } = await open()
  await take({ 'Reply-To': DESK.toUpperCase(), Subject: 'Help', 'Message-ID': '<1@e>' })
  const [ticket] = (await get('Ticket')).results
  const before = smtp.delivered.length

  await run(`Ticket/${ticket.$id}/reply`, { body: 'Hello' })

  expect((await smtp.until(before + 1)).slice(before)).toMatchObject([{ to: ['ada@example.org'] }])
})

/** The token of the newest link that was sent to an address, once there are so many. */
async function linkTo(address: string, count: number): Promise<string> {
  for (let i = 0; i < 1_000; i++) {
    const mails = smtp.delivered.filter(({ to }) => to.includes(address))
    if (mails.length >= count) return /#(tbi_\w+~\w+)/.exec(mails.at(-1)!.mail.text!)![1]!
    await new Promise((done) => setTimeout(done, 10))
  }
  throw new Error(`No link for ${address}.`)
}

const acceptLink = (tenant: string, token: string, password = 'a long enough password') =>
  app.as('')('POST', `/~${tenant}/invitation/accept`, { token, password })

test('links for people end when their address changes', async () => {
  const { body: user } = await app.request('POST', '/~moved/User', {
    name: 'Ada',
    email: 'a@moved.example',
    role: 'Admin',
  })
  const path = `/~moved/User/${user.$id}`
  await app.request('POST', `${path}/invite`)
  const invitation = await linkTo('a@moved.example', 1)
  await app.request('PUT', path, { email: 'b@moved.example' })
  const invited = await acceptLink('moved', invitation)
  await app.request('POST', `${path}/invite`)
  const accepted = await acceptLink('moved', await linkTo('b@moved.example', 1))
  await app.as('')('POST', '/~moved/session/reset', { email: 'b@moved.example' })
  const reset = await linkTo('b@moved.example', 2)
  await app.request('PUT', path, { email: 'c@moved.example' })
  const taken = await acceptLink('moved', reset)

  expect([invited.status, accepted.status, taken.status]).toEqual([401, 201, 401])
})

test('a link for a new password is valid once, also for two at the same time, and not at another tenant', async () => {
  const { body: user } = await app.request('POST', '/~once/User', {
    name: 'Ada',
    email: 'a@once.example',
    role: 'Admin',
  })
  await app.request('POST', `/~once/User/${user.$id}/invite`)
  await acceptLink('once', await linkTo('a@once.example', 1))
  await app.as('')('POST', '/~once/session/reset', { email: 'a@once.example' })
  const token = await linkTo('a@once.example', 2)

  const elsewhere = await acceptLink('moved', token)
  const renamed = await acceptLink('moved', token.replace('~once', '~moved'))
  const replies = await Promise.all(
    ['first', 'second'].map((word) => acceptLink('once', token, `the ${word} password`)),
  )

  expect([elsewhere.status, renamed.status]).toEqual([401, 401])
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 401])
})

test('a mail server gets the links that open accounts: it needs the rights of an Admin, and no agent connects one', async () => {
  const onAuth = (_: unknown, __: unknown, done: (error: null, response: object) => void) => done(null, { user: 'x' })
  const evil = await openSmtp({ disabledCommands: ['STARTTLS'], authOptional: true, allowInsecureAuth: true, onAuth })
  const plain = await testApp({ TILDE_WEBHOOKS_INSECURE: '1' })
  const admin = await person(plain, 'taken', { email: 'admin@example.org', role: 'Admin' })
  const { access } = await connect(plain, admin, 'taken', { asked: { scope: 'admin:all' } })
  const callers = [
    plain.as(await plain.key('taken', 'admin:platform,write:Message')),
    plain.as(await plain.key('taken', 'admin:platform,admin:identity,write:Message')),
    plain.as(await plain.key('taken', 'admin:all', { filter: { Deal: { name: 'x' } } })),
    plain.as(access),
  ]
  const statuses = []
  for (const send of callers) {
    const fields = { name: 'Mail', provider: 'smtp', apiBaseUrl: evil.url, from: 'x@evil.example' }
    const { body } = await send('POST', '/~taken/Integration', fields)
    const credentials = { user: 'x', password: 'y' }
    statuses.push((await send('POST', `/~taken/Integration/${body.$id}/connect`, { credentials })).status)
  }
  const { status } = await plain.as('')('POST', '/~taken/session/reset', { email: 'admin@example.org' })
  const { body } = await plain.request('POST', '/~taken/Integration', {
    name: 'Own',
    provider: 'smtp',
    apiBaseUrl: evil.url,
  })
  const own = await plain.request('POST', `/~taken/Integration/${body.$id}/connect`, {
    credentials: { user: 'x', password: 'y' },
  })
  await plain.stop()
  await evil.close()

  expect(statuses).toEqual([403, 403, 403, 403])
  expect([status, own.status]).toEqual([202, 200])
  expect(evil.delivered).toEqual([])
})
