import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
  await app.request('PUT', '/~acme/schema/Big', { name: 'string', words: 'string[]', kinds: 'Lead | Customer[]' })
  await app.request('PUT', '/~acme/schema/Strict', { name: 'string', $strict: true })
})
afterAll(() => app.stop())

const many = <T>(count: number, one: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => one(i))
const MOST = 100

describe('of a body with a million faults, the first hundred are reported', () => {
  const named = (count: number) => Object.fromEntries(many(count, (i) => [`more${i}`, 1]))
  test.each([
    ['elements of a list', '/Big', () => ({ words: many(1_000_000, () => 1) })],
    ['values of a choice', '/Big', () => ({ kinds: many(500_000, () => 'Leed') })],
    ['fields of a strict type', '/Strict', () => named(300_000)],
    ['names that no field may have', '/Big', () => `{"x":[${many(400_000, () => '{"__proto__":1}').join(',')}]}`],
    ['scopes of a key', '/api-keys', () => ({ name: 'k', scopes: many(1_000_000, (i) => `x${i}`).join(',') })],
  ])('%s', async (_, path, body) => {
    const { status, body: answer, text } = await app.request('POST', `/~acme${path}`, body())

    expect([status, answer.error, answer.details.length]).toEqual([422, 'validation_error', MOST])
    expect(answer.message).toContain('; and more')
    expect(text.length).toBeLessThan(100_000)
  })

  test('rows of an import', async () => {
    const rows = many(3, () => ({ words: many(300_000, () => 1) }))

    const { body, text } = await app.request('POST', '/~acme/import/Big', rows)

    expect([body.imported, body.errors, body.details.length]).toEqual([0, 3, 3])
    expect(text.length).toBeLessThan(100_000)
  })

  test('parts of a declaration', async () => {
    const { status, body } = await app.request('POST', '/~acme/schema/plan', named(500_000))

    expect([status, body.message]).toEqual([422, expect.stringContaining('has 500000 parts; at most 1000')])
  })
})
