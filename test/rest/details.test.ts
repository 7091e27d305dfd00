import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'

let host: TestApp
beforeAll(async () => {
  host = await testApp()
})
afterAll(() => host.stop())

const send = (...args: Parameters<TestApp['request']>) => host.request(...args)

describe('a body that is not an object', () => {
  test.each(['null', '[]', '5', '"x"'])('%s is refused by every update', async (body) => {
    const { body: contact } = await send('POST', '/~acme/Contact', { name: 'Ada' })
    const { body: key } = await send('POST', '/~acme/api-keys', { name: 'k', scopes: 'read:crm' })
    const { body: webhook } = await send('POST', '/~acme/webhooks', { url: 'https://example.com/', events: ['*'] })

    for (const path of [`Contact/${contact.$id}`, `api-keys/${key.$id}`, `webhooks/${webhook.$id}`])
      expect([path, (await send('PUT', `/~acme/${path}`, body)).status]).toEqual([path, 422])
    expect((await send('POST', `/~acme/Contact/${contact.$id}/qualify`, body)).status).toBe(422)
    expect((await send('GET', `/~acme/Contact/${contact.$id}`)).body.$version).toBe(1)
  })
})

test('an import keeps an $id of base62 and no other', async () => {
  const rows = [
    { $id: 'contact_0VxGq3mZ8kLrT2wYbN4cDe', name: 'Kept' },
    { $id: 'contact_0VxGq3mZ-8kLrT2wYbN4cDe', name: 'New' },
  ]

  await send('POST', '/~ids/import/Contact', rows)

  const { body } = await send('GET', '/~ids/export/Contact')
  expect(body[0].$id).toBe('contact_0VxGq3mZ8kLrT2wYbN4cDe')
  expect(body[1].$id).toMatch(/^contact_[A-Za-z0-9]{16,}$/)
})

describe('a webhook', () => {
  test.each([
    'https://localhost/',
    'https://app.localhost/hook',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://10.1.2.3/',
    'https://169.254.169.254/latest/meta-data',
    'https://192.168.1.5:8443/',
  ])('cannot be registered at %s, where it would never be sent', async (url) => {
    const { status, body } = await send('POST', '/~acme/webhooks', { url, events: ['*'] })

    expect([status, body.details]).toEqual([
      422,
      [{ field: 'url', message: expect.stringMatching(/is not allowed.*is not public/) }],
    ])
  })

  test.each([
    [['Contact.qualifed'], 'Contact has no event qualifed; did you mean qualified?'],
    [['*', 'deal.wonn'], 'Deal has no event wonn; did you mean won?'],
  ])('cannot wait for %j, which never comes', async (events, message) => {
    const { status, body } = await send('POST', '/~acme/webhooks', { url: 'https://example.com/', events })

    expect([status, body.details]).toEqual([422, [{ field: 'events', message }]])
  })

  test('may wait for events of the service, and of future types', async () => {
    const events = ['ApiKey.expired', 'Webhook.failing', 'contact.QUALIFIED', 'Ship.launched', '*.created']

    expect((await send('POST', '/~acme/webhooks', { url: 'https://example.com/', events })).status).toBe(201)
  })
})

describe('an aggregation over time', () => {
  beforeAll(async () => {
    for (const [name, date, at] of [
      ['a', '2026-01-31', '2026-01-31T23:30:00Z'],
      ['b', '2026-02-01', '2026-02-01T00:30:00Z'],
      ['c', '2026-02-28', '2026-02-01T00:45:00Z'],
      ['d', '2025-12-29', '2025-12-29T12:00:00Z'],
    ])
      await send('POST', '/~time/Deal', { name, expectedCloseDate: date, lastActivityAt: at, value: 1 })
    await send('POST', '/~time/Deal', { name: 'none' })
  })
  const groups = async (group: string) => {
    const { body } = await send('GET', `/~time/Deal/aggregate?group=${encodeURIComponent(group)}&sum=value`)
    return body.results ? Object.fromEntries(body.results.map((one: any) => [one[group], one.count])) : body.error
  }

  test.each([
    ['expectedCloseDate:month', { '2026-01': 1, '2026-02': 2, '2025-12': 1, null: 1 }],
    ['expectedCloseDate:quarter', { '2026-Q1': 3, '2025-Q4': 1, null: 1 }],
    ['expectedCloseDate:year', { '2026': 3, '2025': 1, null: 1 }],
    ['lastActivityAt:day', { '2026-01-31': 1, '2026-02-01': 2, '2025-12-29': 1, null: 1 }],
    ['lastActivityAt:hour', { '2026-01-31T23': 1, '2026-02-01T00': 2, '2025-12-29T12': 1, null: 1 }],
    ['lastActivityAt:week', { '2026-01-26': 3, '2025-12-29': 1, null: 1 }],
  ])('groups by %s', async (group, expected) => {
    expect(await groups(group)).toEqual(expected)
  })

  test('groups by the month of creation', async () => {
    const month = new Date().toISOString().slice(0, 7)

    expect(await groups('createdAt:month')).toEqual({ [month]: 5 })
    expect(await groups('$updatedAt:year')).toEqual({ [month.slice(0, 4)]: 5 })
  })

  test('refuses a period that there is not, and a field that is not a time', async () => {
    expect(await groups('createdAt:mnth')).toBe('invalid_group')
    expect(await groups('stage:month')).toBe('invalid_group')
  })
})
