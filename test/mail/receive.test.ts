import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'
import { openSmtp, type TestSmtp } from './smtp.ts'

let smtp: TestSmtp
let app: TestApp

beforeAll(async () => {
  smtp = await openSmtp()
  app = await testApp({
    TILDE_SMTP_URL: smtp.url,
    TILDE_SMTP_FROM: 'service@example.org',
    TILDE_WEBHOOKS_INSECURE: '1',
  })
})

afterAll(async () => {
  await app.stop()
  await smtp.close()
})

let count = 0

async function open(ticket = true) {
  const root = `/~in-${++count}`
  const inbox = await app.request('PUT', `${root}/inbox`, { addresses: ['desk@acme.example'], ticket })
  expect(inbox.status, inbox.text).toBe(200)
  const list = async (type: string, query = '') =>
    (await app.request('GET', `${root}/${type}?limit=100${query}`)).body.results
  return {
    root,
    list,
    take: (headers: Record<string, string>, body = 'Hello') => post(root, headers, body),
    get: async (path: string) => (await app.request('GET', `${root}/${path}`)).body,
    run: (path: string, body: object = {}) => app.request('POST', `${root}/${path}`, body),
  }
}

function post(root: string, headers: Record<string, string>, body: string) {
  const all = { From: 'Ada Lovelace <ada@example.org>', To: 'desk@acme.example', ...headers }
  const raw = `${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\r\n')}\r\n\r\n${body}`
  return app.request('POST', `${root}/inbox/email`, raw, { 'content-type': 'message/rfc822' })
}

verifies('mail.in', 'an e-mail becomes a Message that is linked to its Contact', async () => {
  const { take, list } = await open(false)

  const { status, body } = await take({
    Subject: '=?UTF-8?Q?Gr=C3=BC=C3=9Fe?=',
    'Message-ID': '<1@example.org>',
    Date: 'Tue, 3 Nov 2026 10:00:00 +0100',
  })

  expect(status).toBe(201)
  expect(body).toMatchObject({
    $type: 'Message',
    direction: 'In',
    channel: 'Email',
    status: 'Delivered',
    subject: 'Grüße',
    body: 'Hello',
    from: 'ada@example.org',
    to: ['desk@acme.example'],
    messageId: '<1@example.org>',
    sentAt: '2026-11-03T09:00:00.000Z',
  })
  const contacts = await list('Contact')
  expect(contacts).toMatchObject([{ name: 'Ada Lovelace', email: 'ada@example.org' }])
  expect(body.sender).toBe(contacts[0].$id)
  expect(await list('Ticket')).toEqual([])
})

verifies('mail.in.once', 'a repeated Message-ID changes nothing', async () => {
  const { take, list, root } = await open()
  const first = await take({ 'Message-ID': '<1@example.org>' })
  const again = await take({ 'Message-ID': '<1@example.org>', Subject: 'Other' })
  const without = [await take({}, 'no id'), await take({}, 'no id')]

  expect([first.status, again.status, again.body.$id]).toEqual([201, 200, first.body.$id])
  expect(without.map(({ status }) => status)).toEqual([201, 200])
  expect(await list('Message')).toHaveLength(2)
  expect(await list('Contact')).toHaveLength(1)
  expect(await list('Ticket')).toHaveLength(2)
  const { body } = await app.request('GET', `${root}/events?type=Message.created`)
  expect(body.results).toHaveLength(2)
})

verifies(
  'mail.ticket',
  'a thread is a Ticket: answers are added to it, and an answer reopens a closed one',
  async () => {
    const { take, list, get, run } = await open()
    await take({ Subject: 'Help', 'Message-ID': '<1@example.org>' }, 'It is broken')
    const [ticket] = await list('Ticket')
    const [contact] = await list('Contact')
    expect(ticket).toMatchObject({
      subject: 'Help',
      description: 'It is broken',
      channel: 'Email',
      requester: contact.$id,
    })

    const before = smtp.delivered.length
    const replied = await run(`Ticket/${ticket.$id}/reply`, { body: 'Try again' })
    expect([replied.status, replied.body.$id], replied.text).toEqual([200, ticket.$id])
    const sent = (await smtp.until(before + 1)).at(-1)!
    expect(sent).toMatchObject({ from: 'desk@acme.example', to: ['ada@example.org'] })
    expect(sent.mail).toMatchObject({ subject: 'Re: Help', inReplyTo: '<1@example.org>' })

    await run(`Ticket/${ticket.$id}/close`)
    await take({
      Subject: 'Re: Help',
      'Message-ID': '<2@example.org>',
      References: `<1@example.org> ${sent.mail.messageId}`,
    })

    expect(await list('Ticket')).toHaveLength(1)
    expect((await get(`Ticket/${ticket.$id}`)).status).toBe('Reopened')
    const messages = await list('Message', `&ticket=${ticket.$id}`)
    expect(messages.map(({ direction }: any) => direction).sort()).toEqual(['In', 'In', 'Out'])
    const answer = messages.find(({ messageId }: any) => messageId === '<2@example.org>')
    expect(answer.inReplyTo).toBe(replied.body.message)
    const shown = await get(`Ticket/${ticket.$id}?include=messages`)
    expect(shown.messages).toHaveLength(3)
  },
)

test('an e-mail finds the Contact of its address in other capitals', async () => {
  const { take, list, run } = await open(false)
  const { body: ada } = await run('Contact', { name: 'Ada', email: 'Ada@Example.org' })

  const { body } = await take({ From: 'Ada Lovelace <ADA@example.org>', 'Message-ID': '<1@example.org>' })

  expect(body.sender).toBe(ada.$id)
  expect(await list('Contact')).toHaveLength(1)
})

verifies('mail.bounce', 'a bounce fails the message that it names, and makes no Contact and no Ticket', async () => {
  const { take, list, get, run, root } = await open()
  const created = await app.request('POST', `${root}/Message`, {
    channel: 'Email',
    to: ['unknown@example.org'],
    body: 'x',
  })
  await run(`Message/${created.body.$id}/send`)
  for (let i = 0; (await get(`Message/${created.body.$id}`)).status === 'Queued' && i < 500; i++)
    await new Promise((done) => setTimeout(done, 10))
  const { messageId } = await get(`Message/${created.body.$id}`)

  const report = (action: string) =>
    [
      '--b',
      'Content-Type: text/plain',
      '',
      'Your message could not be delivered.',
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; mx.example.org',
      '',
      'Final-Recipient: rfc822; unknown@example.org',
      `Action: ${action}`,
      'Status: 5.1.1',
      'Diagnostic-Code: smtp; 550 5.1.1 No such',
      ' user here',
      '--b',
      'Content-Type: message/rfc822',
      '',
      `Message-ID: ${messageId}`,
      'Subject: x',
      '',
      'x',
      '--b--',
      '',
    ].join('\r\n')
  const headers = {
    From: 'MAILER-DAEMON@example.org',
    'Content-Type': 'multipart/report; report-type=delivery-status; boundary="b"',
  }
  await take({ ...headers, 'Message-ID': '<d@example.org>' }, report('delayed'))
  expect((await get(`Message/${created.body.$id}`)).status).toBe('Delivered')
  await take({ ...headers, 'Message-ID': '<f@example.org>' }, report('failed'))

  expect(await get(`Message/${created.body.$id}`)).toMatchObject({
    status: 'Failed',
    error: '550 5.1.1 No such user here',
  })
  expect(await list('Contact')).toEqual([])
  expect(await list('Ticket')).toEqual([])
})

verifies('mail.automatic', 'an automatic answer makes no Contact and no Ticket, and does not reopen one', async () => {
  const { take, list, get, run } = await open()
  for (const [i, header] of [
    { 'Auto-Submitted': 'auto-replied' },
    { 'X-Autoreply': 'yes' },
    { Precedence: 'auto_reply' },
    { From: 'desk@acme.example' },
  ].entries()) {
    await take({
      From: 'robot@example.org',
      'Message-ID': `<${i}@robot.example>`,
      ...(header as Record<string, string>),
    })
  }
  expect([await list('Contact'), await list('Ticket')]).toEqual([[], []])
  expect(await list('Message')).toHaveLength(4)

  await take({ 'Message-ID': '<1@example.org>', 'Auto-Submitted': 'no' })
  const [ticket] = await list('Ticket')
  await run(`Ticket/${ticket.$id}/close`)
  await take({ 'Message-ID': '<2@example.org>', 'In-Reply-To': '<1@example.org>', 'Auto-Submitted': 'auto-replied' })
  expect((await get(`Ticket/${ticket.$id}`)).status).toBe('Closed')
})

test('attachments are files of the Message', async () => {
  const { take, get, root } = await open()
  const parts = [
    '--b',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'See the file',
    '--b',
    'Content-Type: application/pdf; name="=?UTF-8?Q?Rechnung_=C3=9C.pdf?="',
    'Content-Transfer-Encoding: base64',
    'Content-Disposition: attachment; filename="../../etc/passwd.pdf"',
    '',
    Buffer.from('%PDF-1.7').toString('base64'),
    '--b--',
  ].join('\r\n')
  const { status, body } = await take(
    { 'Content-Type': 'multipart/mixed; boundary=b', 'Message-ID': '<1@example.org>' },
    parts,
  )

  expect(status).toBe(201)
  expect(body.attachments).toMatchObject([{ type: 'application/pdf', size: 8, name: expect.not.stringContaining('/') }])
  const bytes = await app.fetch(`${root}/Message/${body.$id}/attachments/0`, {
    headers: { authorization: `Bearer ${await app.key(root.slice(2), 'read:all')}` },
  })
  expect(await bytes.text()).toBe('%PDF-1.7')
  expect((await get(`Message/${body.$id}`)).attachments).toHaveLength(1)
})

test('an answer to List-Unsubscribe unsubscribes its Contact', async () => {
  const { take, list } = await open()
  await take({ Subject: 'unsubscribe', 'Message-ID': '<1@example.org>' }, '')

  expect(await list('Contact')).toMatchObject([{ email: 'ada@example.org', status: 'Unsubscribed' }])
  expect(await list('Ticket')).toEqual([])
})

test('a message without a sender makes no Contact, and an empty body is refused', async () => {
  const { root, list } = await open()
  const type = { 'content-type': 'message/rfc822' }

  const { status, body } = await app.request(
    'POST',
    `${root}/inbox/email`,
    'Subject: Without a sender\r\n\r\nHello',
    type,
  )
  const empty = await app.request('POST', `${root}/inbox/email`, '', type)

  expect([status, body.sender, body.from]).toEqual([201, undefined, undefined])
  expect([empty.status, empty.body.error]).toEqual([400, 'invalid_body'])
  expect(await list('Contact')).toEqual([])
  expect(await list('Ticket')).toMatchObject([{ subject: 'Without a sender' }])
})

verifies('mail.in.rights', 'a raw message needs the right to write messages, its type and a size', async () => {
  const { root } = await open()
  const raw = 'From: a@b.c\r\n\r\nx'
  const type = { 'content-type': 'message/rfc822' }
  const reader = app.as(await app.key(root.slice(2), 'read:all'))
  const writer = app.as(await app.key(root.slice(2), 'write:Message'))

  expect((await reader('POST', `${root}/inbox/email`, raw, type)).status).toBe(403)
  expect((await writer('POST', `${root}/inbox/email`, raw, type)).status).toBe(201)
  expect((await writer('PUT', `${root}/inbox`, { addresses: [] })).status).toBe(403)
  expect((await writer('GET', `${root}/inbox`)).status).toBe(403)
  expect((await app.request('POST', `${root}/inbox/email`, raw, { 'content-type': 'text/plain' })).status).toBe(415)
  expect((await app.request('POST', `${root}/inbox/email`, 'x'.repeat(26_214_401), type)).status).toBe(413)
  expect((await app.request('PUT', `${root}/inbox`, { addresses: ['none'] })).status).toBe(422)
})

verifies(
  ['mail.hostile', 'slices.mail'],
  'a message that takes long is read next to the thread of the tenants',
  async () => {
    const { root, take } = await open()
    let turns = 0
    let isDone = false
    const turn = () => {
      turns++
      if (!isDone) setTimeout(turn, 1)
    }
    turn()
    const long = await take(
      { 'Message-ID': '<1@example.org>', 'Content-Type': 'text/plain; format=flowed; delsp=yes' },
      '> a \r\n'.repeat(40_000),
    )
    const seen = turns
    const nested = Array.from(
      { length: 5_000 },
      (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}`,
    )
    const refused = await app.request(
      'POST',
      `${root}/inbox/email`,
      `From: a@b.c\r\nMessage-ID: <2@example.org>\r\n${nested.join('\r\n')}`,
      { 'content-type': 'message/rfc822' },
    )
    isDone = true

    expect(long.status).toBe(201)
    expect(seen).toBeGreaterThan(20)
    expect(refused).toMatchObject({ status: 422, body: { error: 'validation_error' } })
  },
)
