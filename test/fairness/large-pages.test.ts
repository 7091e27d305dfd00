import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestHost, testHost } from '../host.ts'

describe('a page of several megabytes', () => {
  let app: TestHost
  const path = '/~big/Contact?limit=100&include=organization.contacts&sort=name'
  beforeAll(async () => {
    app = await testHost({})
    const { body } = await app.request('POST', '/~big/Organization', { name: 'Acme', description: 'ü'.repeat(2_000) })
    const rows = Array.from({ length: 150 }, (_, i) => ({ name: `c${1_000 + i}`, organization: body.$id }))
    await app.request('POST', '/~big/import/Contact', rows)
  })
  afterAll(() => app.stop())

  test('is written piece by piece, and is what smaller pages hold together', async () => {
    const large = await app.request('GET', path)
    const small = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        app.request('GET', `${path.replace('limit=100', 'limit=2')}&offset=${2 * i}`),
      ),
    )

    expect(large.headers.has('content-length')).toBe(false)
    expect(small[0]!.headers.has('content-length')).toBe(true)
    expect(large.body.results).toEqual(small.flatMap(({ body }) => body.results))
    expect([large.body.total, large.body.hasMore]).toEqual([150, true])
  })

  test('is a whole in a batch', async () => {
    const operations = [{ id: 'a', method: 'GET', path: path.replace('/~big', '') }]
    const [alone, batch] = [await app.request('GET', path), await app.request('POST', '/~big/batch', { operations })]

    expect(batch.body.results[0].body).toEqual(alone.body)
  })

  test('leaves out its body for HEAD', async () => {
    const { status, text } = await app.request('HEAD', path)

    expect([status, text]).toEqual([200, ''])
  })
})
