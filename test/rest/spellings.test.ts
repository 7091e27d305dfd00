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

  test('a row of CSV whose cell is JSON with one is an error of that row', async () => {
    const rows = Buffer.from('name,more\na,1\n"""x\\ud83d""",2\nb,"{""x"":""\\udc00""}"\nc,\\ud83d\n')
    const { body } = await app.request('POST', '/~cells/import/Contact', rows, { 'content-type': 'text/csv' })
    const { body: list } = await app.request('GET', '/~cells/Contact?sort=name')

    expect(body).toMatchObject({ imported: 2, errors: 2 })
    expect(body.details.map(({ row, error }: any) => [row, error])).toEqual(
      [1, 2].map((row) => [row, expect.stringContaining('half of a surrogate pair')]),
    )
    expect(list.results.map(({ name, more }: any) => [name, more])).toEqual([
      ['a', 1],
      ['c', '\\ud83d'],
    ])
  })

  const NOT_UTF8 = Buffer.from([0x61, 0xed, 0xa0, 0x80])
  const formOf = (name: Uint8Array, value: Uint8Array) =>
    Buffer.concat([
      Buffer.from('--x\r\nContent-Disposition: form-data; name="'),
      name,
      Buffer.from('"\r\n\r\n'),
      value,
      Buffer.from('\r\n--x--\r\n'),
    ])

  test.each([
    ['bytes that are not UTF-8', Buffer.from('name'), NOT_UTF8],
    ['half of a character at its end', Buffer.from('name'), Buffer.from([0x61, 0xc3])],
    ['JSON with one', Buffer.from('name'), Buffer.from(HALF)],
    ['a name that is not UTF-8', NOT_UTF8, Buffer.from('a')],
  ])('a form with a part of %s is refused', async (_, name, value) => {
    const form = { 'content-type': 'multipart/form-data; boundary=x' }
    const answer = await app.request('POST', '/~forms/Asset', formOf(name, value), form)
    const fine = await app.request('POST', '/~forms/Asset', formOf(Buffer.from('name'), Buffer.from('ä')), form)

    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_body'])
    expect([fine.status, fine.body.name]).toEqual([201, 'ä'])
  })

  test.each(['name=%ED%A0%80', 'sort=%FF', 'filter=%7B%22name%22%3A%22%C3%22%7D', '%C3=1', 'name=a%80b'])(
    'bytes that are not UTF-8 are refused in the query of a URL and in a batch: %s',
    async (query) => {
      const answer = await app.request('GET', `/~acme/Contact?${query}`)
      const operations = [{ id: 'a', method: 'GET', path: `Contact?${query}` }]
      const { body } = await app.request('POST', '/~acme/batch', { operations })

      expect([answer.status, answer.body.error]).toEqual([400, 'invalid_parameter'])
      expect([body.results[0].status, body.results[0].body.error]).toEqual([400, 'invalid_parameter'])
    },
  )

  test('escaped characters of a query that are UTF-8 are taken', async () => {
    await app.request('POST', '/~acme/Contact', { name: 'Zoë 😀 100%' })
    const { body } = await app.request('GET', `/~acme/Contact?name=${encodeURIComponent('Zoë 😀 100%')}`)

    expect(body.total).toBe(1)
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
  const others = await Promise.all(
    ['events?sort=createdAt', 'export/Event', 'manifest', 'schema', 'events?type=ChangesetPart.*'].map(async (path) => {
      const { status, text } = await app.request('GET', `/~parts/${path}`)
      expect([path, status]).toEqual([path, 200])
      return text
    }),
  )
  const sync = await app.request('POST', '/~parts/sync', { changes: [] })
  const search = { name: 'search', arguments: { type: 'Event', filter: {}, limit: 100 } }
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: search }
  const found = await app.request('POST', '/~parts/mcp', message, { accept: 'application/json' })

  expect(results.map(({ entityType }: any) => entityType)).toContain('Changeset')
  expect(found.text).toContain('Changeset.proposed')
  expect(JSON.stringify(results) + others.join('') + sync.text + found.text).not.toContain('ChangesetPart')
  for (const path of ['ChangesetPart', 'changeset-parts', 'export/ChangesetPart'])
    expect((await app.request('GET', `/~parts/${path}`)).body.error).toBe('unknown_type')
})
