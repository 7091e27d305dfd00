import { afterAll, beforeAll, expect, test } from 'vitest'
import { needs, type TestApp, testApp } from '../host.ts'

let host: TestApp
const secret = 'zyxwvut-personal'
const sent = (...args: Parameters<TestApp['request']>) => host.request(...args)
const words = (text: string) => encodeURIComponent(JSON.stringify({ $text: text }))

beforeAll(async () => {
  host = await testApp()
})
afterAll(() => host.stop())

test('an erased entity leaves no value in state, past, log, text or exports; the chain still verifies', async () => {
  const { body: ada } = await sent(
    'POST',
    '/~acme/Contact',
    { name: secret, email: `${secret}@example.org`, notes: { deep: secret } },
    { 'idempotency-key': 'once' },
  )
  await sent('PUT', `/~acme/Contact/${ada.$id}`, { name: `${secret} again`, phone: secret })
  await sent('POST', '/~acme/Contact', { name: 'Bob' })
  expect((await sent('GET', `/~acme/Contact?filter=${words('zyxwvut')}`)).body.total).toBe(1)

  const done = await sent('POST', `/~acme/Contact/${ada.$id}/erase`, { reason: 'asked to' })

  expect(done.status).toBe(200)
  expect(done.body).toMatchObject({
    $type: 'Erasure',
    type: 'Contact',
    entity: ada.$id,
    events: 3,
    $createdBy: 'operator',
    reason: 'asked to',
  })
  const reads = [
    `/~acme/Contact`,
    `/~acme/Contact?asOf=${ada.$createdAt}`,
    `/~acme/Contact/${ada.$id}/history`,
    '/~acme/events',
    '/~acme/Event',
    '/~acme/export/Contact',
    `/~acme/Contact?filter=${words('zyxwvut')}`,
  ]
  for (const path of reads) expect((await sent('GET', path)).text, path).not.toContain(secret)
  const verdict = await sent('GET', '/operator/tenants/acme/verify')
  expect(verdict.body).toMatchObject({ ok: true, faults: [] })
  expect((await sent('POST', `/~acme/Contact/${ada.$id}/restore`)).status).toBe(404)
})

test('after erasures of entities that metrics add up, the tenant is whole', async () => {
  const drafts = {
    Deal: { name: 'Large', value: 500, currency: 'EUR' },
    Lead: { name: 'New' },
    Ticket: { subject: 'Broken', satisfaction: 5 },
    Subscription: { quantity: 2 },
  }
  for (const [type, draft] of Object.entries(drafts)) {
    const kept = await sent('POST', `/~whole/${type}`, draft)
    const made = await sent('POST', `/~whole/${type}`, draft)
    const erased = await sent('POST', `/~whole/${type}/${made.body.$id}/erase`)
    expect([type, kept.status, made.status, erased.status]).toEqual([type, 201, 201, 200])
  }

  const verdict = await sent('GET', '/operator/tenants/whole/verify')

  expect(verdict.body).toMatchObject({ ok: true, faults: [] })
})

test('an erased entity leaves no value in files', async () => {
  needs('way to overwrite the unused space of a database and its log')
  const { body } = await sent('POST', '/~acme/Contact', { name: secret, notes: { deep: secret } })
  expect(host.stored()).toContain(secret)

  await sent('POST', `/~acme/Contact/${body.$id}/erase`)

  expect(host.stored()).toContain(body.$id)
  expect(host.stored()).not.toContain(secret)
})

test('erasing takes an administrator, and something that is there', async () => {
  const { body } = await sent('POST', '/~acme/Contact', { name: 'x' })
  const writer = host.as(await host.key('acme', 'write:all'))

  expect((await writer('POST', `/~acme/Contact/${body.$id}/erase`)).status).toBe(403)
  expect((await sent('POST', '/~acme/Contact/contact_nobody/erase')).status).toBe(404)
  expect((await sent('GET', `/~acme/Contact/${body.$id}`)).status).toBe(200)
})

test('a tracked event can be erased too', async () => {
  const { body } = await sent('POST', '/~acme/events', { name: 'signup', type: 'track', userId: 'qwertz-person' })

  const done = await sent('POST', `/~acme/Event/${body.$id}/erase`)

  expect(done.status).toBe(200)
  expect((await sent('GET', '/~acme/Event')).text).not.toContain('qwertz-person')
  expect((await sent('GET', '/operator/tenants/acme/verify')).body.ok).toBe(true)
})

test('what is deleted already is erased without being deleted again; keys and webhooks are not erased', async () => {
  const { body: ada } = await sent('POST', '/~gone/Contact', { name: 'Ada' })
  await sent('DELETE', `/~gone/Contact/${ada.$id}`)
  const { body: key } = await sent('POST', '/~gone/api-keys', { name: 'k' })

  const done = await sent('POST', `/~gone/Contact/${ada.$id}/erase`)
  const refused = await sent('POST', `/~gone/ApiKey/${key.$id}/erase`)
  const nobody = await sent('POST', '/~gone/Event/event_nobody/erase')

  expect([done.status, done.body.events]).toEqual([200, 2])
  expect([refused.status, refused.body.message]).toEqual([422, 'A ApiKey cannot be erased; delete it instead.'])
  expect(nobody.status).toBe(404)
})
