import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost()
  await host.request('POST', '/~acme/Contact', { name: 'Ada' })
})
afterAll(() => host.stop())

test('an export that is known is not sent again, whichever of several it is', async () => {
  const get = (known: string) => host.request('GET', '/~acme/export/Contact', undefined, { 'if-none-match': known })
  const etag = (await get('"other"')).headers.get('etag')!

  const known = await Promise.all([etag, `"other", ${etag}`, `${etag},"other"`, '"other"'].map(get))

  expect(known.map(({ status }) => status)).toEqual([304, 304, 304, 200])
  expect(known.map(({ headers }) => headers.get('etag'))).toEqual([etag, etag, etag, etag])
})

test.each(['constructor', 'toString', '__proto__', 'JSON'])('%s is not a format of an export', async (format) => {
  const { status, body } = await host.request('GET', `/~acme/export/Contact?format=${format}`)

  expect([status, body.error, body.field]).toEqual([400, 'invalid_parameter', 'format'])
})

test('an import that does not say what it is, is JSON', async () => {
  const response = await fetch(`${host.url}/~plain/import/Contact`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ROOT}` },
    body: new TextEncoder().encode('[{"name":"Ada"}]'),
  })

  expect(await response.json()).toMatchObject({ success: true, imported: 1 })
})
