import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.stop())

describe('half of a surrogate pair', () => {
  const json = { 'content-type': 'application/json' }
  const HALF = '"x\\ud83dy"'

  test.each([
    ['POST', '/~acme/Contact', `{"name":${HALF}}`],
    ['POST', '/~acme/Contact', `{"name":"a",${HALF}:1}`],
    ['POST', '/~acme/Contact', `{"name":"\\\\\\uDC00"}`],
    ['POST', '/~acme/batch', `{"operations":[{"id":"a","method":"POST","path":"Contact","body":{"name":${HALF}}}]}`],
    ['POST', '/~acme/sync', `{"changes":[{"type":"Contact","id":"contact_1","data":{"name":${HALF}}}]}`],
  ])('is refused as a body that is not UTF-8 is: %s %s %s', async (method, path, body) => {
    const answer = await app.request(method, path, Buffer.from(body), json)

    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_json'])
  })

  test.each([`{"name":${HALF}}`, `{"name":{"$in":["a",${HALF}]}}`, `{"${HALF.slice(1, -1)}":1}`])(
    'is refused in the filter of a URL: %s',
    async (filter) => {
      const answer = await app.request('GET', `/~acme/Contact?filter=${encodeURIComponent(filter)}`)

      expect([answer.status, answer.body.error, answer.body.field]).toEqual([400, 'invalid_filter', 'filter'])
    },
  )

  test('whole pairs and texts about halves are taken', async () => {
    const body = Buffer.from('{"name":"\\ud83d\\ude00 \\\\ud83d"}')
    const answer = await app.request('POST', '/~acme/Contact', body, json)

    expect([answer.status, answer.body.name]).toEqual([201, '\u{1f600} \\ud83d'])
  })

  test('a row of an import with one is an error of that row', async () => {
    const rows = Buffer.from(`{"name":"a"}\n{"name":${HALF}}\n`)
    const { body } = await app.request('POST', '/~rows/import/Contact', rows, {
      'content-type': 'application/x-ndjson',
    })

    expect([body.imported, body.errors]).toEqual([1, 1])
  })
})

describe('a webhook', () => {
  test.each([
    [' https://example.com/x\u0000', 'https://example.com/x'],
    ['https://ex\u200bample.com/x', 'https://example.com/x'],
    ['https://ｅxample.com/a b', 'https://example.com/a%20b'],
    ['HTTPS://EXAMPLE.com', 'https://example.com/'],
  ])('on %j is stored as %s', async (url, stored) => {
    const { status, body } = await app.request('POST', '/~acme/webhooks', { url, events: ['*'] })
    const moved = await app.request('PUT', `/~acme/webhooks/${body.$id}`, { url: `${url}` })

    expect([status, body.url, moved.body.url]).toEqual([201, stored, stored])
  })

  test('on an event that no type has is refused, whatever its type', async () => {
    const answers = await Promise.all(
      ['*.craeted', 'Contact.craeted', '*.created', '*.*', '*', '*.succeeded'].map((event) =>
        app.request('POST', '/~acme/webhooks', { url: 'https://example.com/', events: [event] }),
      ),
    )

    expect(answers.map(({ status }) => status)).toEqual([422, 422, 201, 201, 201, 201])
    expect(answers[0]!.body.message).toContain('created')
  })
})

test('the parts of a changeset are in no stream, whatever the key may read', async () => {
  const { body } = await app.request('POST', '/~parts/Contact', { name: 'Ada' })
  await app.request('PUT', `/~parts/Contact/${body.$id}?propose=Rename`, { name: 'Eve' })

  const { results } = (await app.request('GET', '/~parts/events?limit=100')).body
  const collected = (await app.request('GET', '/~parts/events?sort=createdAt')).body

  expect(results.map(({ entityType }: any) => entityType)).toContain('Changeset')
  expect(JSON.stringify([results, collected])).not.toContain('ChangesetPart')
})
