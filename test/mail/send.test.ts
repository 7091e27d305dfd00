import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'
import { openSmtp, type TestSmtp } from './smtp.ts'

const FROM = 'service@example.org'
let smtp: TestSmtp
let app: TestApp

beforeAll(async () => {
  smtp = await openSmtp()
  app = await testApp({
    TILDE_SMTP_URL: smtp.url,
    TILDE_SMTP_FROM: FROM,
    TILDE_WEBHOOKS_INSECURE: '1',
    TILDE_WEBHOOK_RETRIES: '50ms,50ms',
  })
})

afterAll(async () => {
  await app.stop()
  await smtp.close()
})

let tenants = 0

/** A tenant of its own, and what a test does with its messages. */
function open() {
  const root = `/~mail-${++tenants}`
  return {
    root,
    async send(fields: object): Promise<{ id: string; status: number; headers: Headers; body: any }> {
      const created = await app.request('POST', `${root}/Message`, { channel: 'Email', body: 'Hello', ...fields })
      expect(created.status, created.text).toBe(201)
      const sent = await app.request('POST', `${root}/Message/${created.body.$id}/send`, {})
      return { ...sent, id: created.body.$id }
    },
    async settled(id: string): Promise<any> {
      for (let i = 0; i < 500; i++) {
        const { body } = await app.request('GET', `${root}/Message/${id}`)
        if (body.status !== 'Queued') return body
        await new Promise((done) => setTimeout(done, 10))
      }
      throw new Error('The message stays queued.')
    },
    inbox: (addresses: readonly string[], ticket = false) => app.request('PUT', `${root}/inbox`, { addresses, ticket }),
  }
}

function last(): TestSmtp['delivered'][number] {
  return smtp.delivered.at(-1)!
}

verifies('mail.send', 'a sent message is queued by its verb and delivered by the mail server', async () => {
  const { send, settled } = open()
  const before = smtp.delivered.length

  const { id, status, body } = await send({
    to: ['Ada Lovelace <ada@example.org>'],
    cc: ['bo@example.org'],
    bcc: ['cy@example.org'],
    subject: 'Grüße & more',
    body: 'Hello **Ada**,\n\n- one\n- <two>\n\n[here](https://example.org/?a=1&b=2)',
  })

  expect([status, body.status]).toEqual([200, 'Queued'])
  const message = await settled(id)
  expect(message).toMatchObject({ status: 'Delivered', direction: 'Out', sentAt: expect.any(String) })
  expect(smtp.delivered).toHaveLength(before + 1)
  const { mail, to, from, raw } = last()
  expect([from, [...to].sort()]).toEqual([FROM, ['ada@example.org', 'bo@example.org', 'cy@example.org']])
  expect(raw).not.toContain('cy@example.org')
  expect(mail).toMatchObject({ subject: 'Grüße & more', messageId: message.messageId })
  expect(mail.text).toContain('Hello **Ada**')
  expect(mail.html).toContain('<strong>Ada</strong>')
  expect(mail.html).toContain('<li>&lt;two&gt;</li>')
  expect(mail.html).toContain('<a href="https://example.org/?a=1&amp;b=2">here</a>')
})

verifies('mail.retry', 'every attempt has the same Message-ID, and a temporary refusal is tried again', async () => {
  const { root, send, settled } = open()
  smtp.refuse(451)

  const { id } = await send({ to: ['ada@example.org'], subject: 'Again' })

  const message = await settled(id)
  expect(message.status).toBe('Delivered')
  expect(last().mail.messageId).toBe(message.messageId)
  const { body } = await app.request('GET', `${root}/events?type=Message.delivered`)
  expect(body.results).toHaveLength(1)
})

verifies('mail.failed', 'a message fails when it is refused permanently, or when its retries are used up', async () => {
  const { root, send, settled } = open()
  smtp.refuse(550)
  const final = await send({ to: ['unknown@example.org'] })
  expect(await settled(final.id)).toMatchObject({ status: 'Failed', error: expect.stringContaining('550') })

  smtp.refuse(451, 3)
  const tired = await send({ to: ['busy@example.org'] })
  expect(await settled(tired.id)).toMatchObject({ status: 'Failed', error: expect.stringContaining('451') })

  const again = await app.request('POST', `${root}/Message/${tired.id}/send`, {})
  expect(again.status).toBe(200)
  expect(await settled(tired.id)).toMatchObject({ status: 'Delivered' })
  expect((await settled(tired.id)).error ?? null).toBeNull()
})

verifies('mail.addresses', 'line breaks in headers, and addresses that are none, are refused', async () => {
  const { root, inbox } = open()
  await inbox(['desk@acme.example'])
  const before = smtp.delivered.length
  const wrong: [string, object][] = [
    ['to', { to: ['ada@example.org\r\nBcc: eve@example.org'] }],
    ['to', { to: ['ada'] }],
    ['to', { to: ['a@b.c, d@e.f'] }],
    ['cc', { to: ['ada@example.org'], cc: ['x y@example.org'] }],
    ['bcc', { to: ['ada@example.org'], bcc: ['<>'] }],
    ['replyTo', { to: ['ada@example.org'], replyTo: 'ada@example.org\nX: y' }],
    ['subject', { to: ['ada@example.org'], subject: 'Hi\r\nBcc: eve@example.org' }],
    ['subject', { to: ['ada@example.org'], subject: 'Hi\u0000' }],
    ['from', { to: ['ada@example.org'], from: 'eve@example.org' }],
    ['from', { to: ['ada@example.org'], from: 'desk@acme.example\r\nBcc: eve@example.org' }],
    ['to', {}],
  ]
  for (const [field, fields] of wrong) {
    const created = await app.request('POST', `${root}/Message`, { channel: 'Email', body: 'x', ...fields })
    const { status, body } = await app.request('POST', `${root}/Message/${created.body.$id}/send`, {})
    expect([field, status]).toEqual([field, 422])
    expect(JSON.stringify(body)).toContain(field)
    const kept = await app.request('GET', `${root}/Message/${created.body.$id}`)
    expect(kept.body.status).toBe('Draft')
  }
  expect(smtp.delivered).toHaveLength(before)
})

verifies('mail.from', 'a message is sent from an address of the inbox, or from that of the service', async () => {
  const { send, settled, inbox } = open()
  await inbox(['Desk@acme.example'])

  const { id } = await send({ to: ['ada@example.org'], from: 'Acme <desk@acme.example>' })

  await settled(id)
  expect(last().from).toBe('desk@acme.example')
  expect(last().mail.headers.get('list')).toMatchObject({
    unsubscribe: { mail: expect.stringContaining('desk@acme.example') },
  })
})

verifies('mail.unconfigured', 'a channel without a transport leaves the message queued, with a warning', async () => {
  const { send } = open()

  const { status, body, headers } = await send({ channel: 'SMS' })

  expect([status, body.status]).toEqual([200, 'Queued'])
  expect(JSON.parse(headers.get('x-tilde-warnings')!)).toEqual([{ warning: 'not_configured', channel: 'SMS' }])
})

test('an answer has the ids of its thread, and attachments go along', async () => {
  const { root, send, settled } = open()
  const first = await send({ to: ['ada@example.org'], subject: 'One' })
  const file = await app.request('POST', `${root}/files?name=${encodeURIComponent('Übersicht 1.txt')}`, 'the bytes', {
    'content-type': 'text/plain',
  })
  expect(file.status).toBe(201)

  const second = await send({
    to: ['ada@example.org'],
    subject: 'Two',
    inReplyTo: first.id,
    attachments: [{ hash: file.body.hash }],
  })

  const [one, two] = [await settled(first.id), await settled(second.id)]
  expect(two.status).toBe('Delivered')
  expect(last().mail.inReplyTo).toBe(one.messageId)
  expect([last().mail.references].flat()).toEqual([one.messageId])
  expect(last().mail.attachments).toMatchObject([{ filename: 'Übersicht 1.txt', contentType: 'text/plain' }])
  expect(last().mail.attachments[0]!.content.toString()).toBe('the bytes')
})

verifies('mail.workflow', 'a workflow sends a message, which says that no person wrote it', async () => {
  const { root, settled } = open()
  const { body } = await app.request('POST', `${root}/Workflow`, {
    name: 'Welcome',
    triggerEvent: 'Contact.created',
    steps: [{ send: { to: ['$event.data.email'], subject: 'Welcome', body: 'Hello $event.data.name' } }],
  })
  await app.request('POST', `${root}/Workflow/${body.$id}/activate`, {})
  const before = smtp.delivered.length

  await app.request('POST', `${root}/Contact`, { name: 'Ada', email: 'ada@example.org' })

  await smtp.until(before + 1)
  expect(last().mail).toMatchObject({ subject: 'Welcome', text: expect.stringMatching(/^Hello Ada\s*$/) })
  expect(last().mail.headers.get('auto-submitted')).toBe('auto-generated')
  const { body: list } = await app.request('GET', `${root}/Message`)
  expect(await settled(list.results[0].$id)).toMatchObject({ status: 'Delivered', channel: 'Email' })
})

verifies('mail.loop', 'two machines that answer each other stop', async () => {
  const { root, inbox } = open()
  await inbox(['desk@acme.example'])
  const { body } = await app.request('POST', `${root}/Workflow`, {
    name: 'Answer everything',
    triggerEvent: 'Message.created',
    filter: { direction: 'In' },
    steps: [{ send: { to: ['$event.data.from'], subject: 'Thank you', body: 'We got it', from: 'desk@acme.example' } }],
  })
  await app.request('POST', `${root}/Workflow/${body.$id}/activate`, {})
  const before = smtp.delivered.length

  for (let i = 0; i < 80; i++) {
    const raw = `From: robot@example.org\r\nTo: desk@acme.example\r\nMessage-ID: <${i}@loop.example>\r\n\r\nAgain`
    const taken = await app.request('POST', `${root}/inbox/email`, raw, { 'content-type': 'message/rfc822' })
    expect(taken.status, taken.text).toBe(201)
  }

  const failed = async () => (await app.request('GET', `${root}/Message?status=Failed&limit=100`)).body.results
  for (let i = 0; (await failed()).length < 20 && i < 500; i++) await new Promise((done) => setTimeout(done, 20))
  expect(smtp.delivered.length - before).toBeLessThanOrEqual(60)
  expect((await failed())[0].error).toContain('loop')
})
