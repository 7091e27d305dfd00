import naughty from 'big-list-of-naughty-strings'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'

/** The Big List of Naughty Strings: texts that programs spoil, run or fail at. */
const STRINGS = naughty.filter((text) => text !== '')

let app: TestApp
let ids: string[]

beforeAll(async () => {
  app = await testApp()
  const made = await Promise.all(STRINGS.map((notes) => app.request('POST', '/~judge/Contact', { name: 'Ada', notes })))
  ids = made.map(({ body }) => body.$id)
})
afterAll(() => app.stop())

const filter = (of: object) => encodeURIComponent(JSON.stringify(of))

test('each text comes back as it was sent', async () => {
  const read = await Promise.all(ids.map((id) => app.request('GET', `/~judge/Contact/${id}`)))

  expect(read.map(({ body }) => body.notes)).toEqual(STRINGS)
})

test('each text is found by a filter, and by a parameter with the name of the field', async () => {
  for (const [i, text] of STRINGS.entries()) {
    const same = STRINGS.filter((other) => other === text).length
    const byFilter = await app.request('GET', `/~judge/Contact?limit=100&filter=${filter({ notes: text })}`)
    const byField = await app.request('GET', `/~judge/Contact?limit=100&notes=${encodeURIComponent(text)}`)

    for (const { status, body } of [byFilter, byField]) {
      expect([text, status, body.total]).toEqual([text, 200, same])
      expect(body.results.map((one: any) => one.$id)).toContain(ids[i])
    }
  }
})

test('each text that is not blank may be searched for, whatever it would mean to the index', async () => {
  for (const text of STRINGS.filter((one) => one.trim() !== '')) {
    const { status } = await app.request('GET', `/~judge/Contact?filter=${filter({ $text: text })}`)
    expect([text, status]).toEqual([text, 200])
  }
})

test('each text survives an export and an import, as JSON and as CSV', async () => {
  for (const [format, type] of [
    ['json', 'application/json'],
    ['csv', 'text/csv'],
  ] as const) {
    const sent = await app.request('GET', `/~judge/export/Contact?format=${format}`)
    const body = Buffer.from(sent.text)
    const headers = { 'content-type': type }
    const taken = await app.request('POST', `/~copy-${format}/import/Contact`, body, headers)
    const read = await Promise.all(ids.map((id) => app.request('GET', `/~copy-${format}/Contact/${id}`)))

    expect([format, taken.body.imported, taken.body.errors]).toEqual([format, STRINGS.length, 0])
    expect(read.map((one) => one.body.notes)).toEqual(STRINGS)
  }
})
