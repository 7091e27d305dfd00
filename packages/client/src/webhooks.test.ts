import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { verifyWebhook } from './webhooks.ts'

const SECRET = `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`
const BODY = JSON.stringify({ id: 'event_1', type: 'Contact.created', data: { name: 'Zoë' } })
const NOW = 1_800_000_000

test('a delivery signed in the way of Standard Webhooks gives its event', async () => {
  const event = await verifyWebhook({ headers: standard(SECRET), body: BODY }, SECRET, { now: NOW * 1_000 })

  expect(event.type).toBe('Contact.created')
})

test('a delivery signed with X-Service-Signature alone gives its event', async () => {
  const headers = { 'X-Service-Signature': service(SECRET) }

  expect((await verifyWebhook({ headers, body: Buffer.from(BODY) }, SECRET)).id).toBe('event_1')
})

test('a Request is taken as it is', async () => {
  const request = new Request('http://localhost/hook', { method: 'POST', headers: standard('plain'), body: BODY })

  expect((await verifyWebhook(request, 'plain', { now: NOW * 1_000 })).id).toBe('event_1')
})

test('during a rotation either of two signatures is valid', async () => {
  const headers = standard(SECRET)
  const both = { ...headers, 'webhook-signature': `v1,AAAA ${headers['webhook-signature']}` }

  expect((await verifyWebhook({ headers: both, body: BODY }, SECRET, { now: NOW * 1_000 })).id).toBe('event_1')
})

test.each([
  ['another secret', { headers: standard('other'), body: BODY }, 'does not fit'],
  ['another body', { headers: standard(SECRET), body: `${BODY} ` }, 'does not fit'],
  ['no signature', { headers: {}, body: BODY }, 'no signature'],
  ['a signature that is none', { headers: { 'x-service-signature': 'sha256=xyz' }, body: BODY }, 'does not fit'],
  ['an old signature', { headers: standard(SECRET, NOW - 301), body: BODY }, 'too old'],
  ['a signature of the future', { headers: standard(SECRET, NOW + 301), body: BODY }, 'too early'],
  ['a time that is none', { headers: { ...standard(SECRET), 'webhook-timestamp': 'x' }, body: BODY }, 'too old'],
])('%s is refused', async (_, delivery, sentence) => {
  const verified = verifyWebhook(delivery, SECRET, { now: NOW * 1_000 })

  await expect(verified).rejects.toMatchObject({
    code: 'invalid_signature',
    message: expect.stringContaining(sentence),
  })
})

test('no change to a signature passes', async () => {
  const good = service(SECRET)
  await fc.assert(
    fc.asyncProperty(fc.nat(63), fc.constantFrom(...'0123456789abcdef'), async (at, digit) => {
      fc.pre(good[at + 7] !== digit)
      const bad = `${good.slice(0, at + 7)}${digit}${good.slice(at + 8)}`
      await expect(verifyWebhook({ headers: { 'x-service-signature': bad }, body: BODY }, SECRET)).rejects.toThrow()
    }),
  )
})

function service(secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(BODY).digest('hex')}`
}

function standard(secret: string, at = NOW) {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret
  const signature = createHmac('sha256', key).update(`event_1.${at}.${BODY}`).digest('base64')
  return { 'webhook-id': 'event_1', 'webhook-timestamp': String(at), 'webhook-signature': `v1,${signature}` }
}
