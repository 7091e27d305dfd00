import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { indexText, textBacklog } from '../../packages/tenant/src/query/words/text-index.ts'
import { type TestApp, testApp } from '../host.ts'
import { openAcme } from '../tenant/fixture.ts'
import { verifies } from '../verifies.ts'

const filter = (json: object) => encodeURIComponent(JSON.stringify(json))

describe('a request', () => {
  let app: TestApp
  beforeAll(async () => {
    app = await testApp({ TILDE_ANSWER_LIMIT: '1MiB', TILDE_ROW_LIMIT: '2000' })
    const { body } = await app.request('POST', '/~big/Organization', { name: 'Acme', description: 'x'.repeat(20_000) })
    const rows = Array.from({ length: 3_000 }, (_, i) => ({ name: `c${i}`, organization: body.$id }))
    await app.request('POST', '/~big/import/Contact', rows)
  })
  afterAll(() => app.stop())

  verifies('budget.answer', 'whose answer would be too large is refused while the answer is built', async () => {
    const fits = await app.request('GET', '/~big/Contact?limit=10&include=organization')
    const over = await app.request('GET', '/~big/Contact?limit=100&include=organization.contacts')

    expect(fits.status).toBe(200)
    expect([over.status, over.body.error, over.body.limit]).toEqual([422, 'over_budget', 'bytes'])
  })

  test('that reads too many rows is refused', async () => {
    // No text that all matches contain: each row is read and tested in memory.
    const over = await app.request('GET', `/~big/Contact/count?filter=${filter({ name: { $regex: '^[^c]' } })}`)

    expect([over.status, over.body.error, over.body.limit]).toEqual([422, 'over_budget', 'rows'])
  })

  verifies(['budget.one', 'budget.batch'], 'has one budget for all operations of a batch', async () => {
    const operations = Array.from({ length: 6 }, (_, i) => ({
      id: `op${i}`,
      method: 'GET',
      path: '/Contact',
      query: { filter: { name: { $regex: `^c${i}` } }, limit: 100 },
    }))
    const { body } = await app.request('POST', '/~big/batch', { operations })
    const codes = body.results.map((one: any) => one.body.error ?? 'ok')
    const first = codes.indexOf('over_budget')

    expect(first).toBeGreaterThanOrEqual(0)
    expect(codes.slice(first).every((code: string) => code === 'over_budget')).toBe(true)
  })

  test('of code counts all that the code reads', async () => {
    const code = 'let n = 0; for (let i = 0; i < 50; i++) n += (await $.Contact.find({}, { limit: 100 })).length; n'
    const { status, body } = await app.request('POST', '/~big/do', { code })

    expect([status, body.reason]).toEqual([422, 'over_budget'])
  })

  test('to import a chain of references that ends nowhere refuses every row of it', async () => {
    const id = (i: number) => `organization_chain${String(i).padStart(8, '0')}`
    const rows = Array.from({ length: 5_000 }, (_, i) => ({ $id: id(i), name: `o${i}`, parent: id(i + 1) }))
    const { body } = await app.request('POST', '/~chain/import/Organization', rows)

    expect(body).toMatchObject({ imported: 0, errors: 5_000 })
  })
})

verifies(
  'slices.background',
  'the text index takes large texts one slice at a time, and continues where it stopped',
  () => {
    const { tenant, close } = openAcme()
    const { engine } = tenant
    for (let i = 0; i < 5; i++) {
      const description = Array.from({ length: 20_000 }, (_, j) => `word${j}`).join(' ')
      tenant.act({ type: 'Organization', verb: 'create', data: { name: `o${i}`, description }, actor: 'test' })
    }
    const left: number[] = []
    for (let done = false; !done; left.push(textBacklog(engine.sql, engine.head.seq)))
      done = indexText(engine.sql, engine.nouns)

    expect(left.length).toBeGreaterThan(2)
    expect(left).toEqual(left.toSorted((a, b) => b - a))
    expect(left.at(-1)).toBe(0)
    close()
  },
)
