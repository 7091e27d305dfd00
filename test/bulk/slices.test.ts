import { sendRows, wireTo } from '@tildebase/client'
import { noun } from '@tildebase/nouns'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cutFile, type RowText } from '../../packages/server/src/doors/format/read/cut-rows.ts'
import { csvReader } from '../../packages/server/src/doors/format/read/read-csv.ts'
import { jsonReader } from '../../packages/server/src/doors/format/read/read-json.ts'
import { ndjsonReader } from '../../packages/server/src/doors/format/read/read-ndjson.ts'
import { ROOT, type TestApp, testApp } from '../host.ts'
import { verifies } from '../verifies.ts'
import { KNOT, knots, RUNS, rowsOf } from './knots.ts'

let app: TestApp
let tenants = 0

beforeAll(async () => {
  app = await testApp()
})
afterAll(() => app.stop())

const Thing = noun('Thing', { name: 'string', note: 'string' })
const READERS = { csv: () => csvReader(Thing), ndjson: ndjsonReader, json: jsonReader }
type Format = keyof typeof READERS

/** Files of what makes CSV and JSON difficult. */
const csv = fc
  .array(fc.constantFrom('a', ',', ';', '"', '""', '\n', '\r\n', '\r', ' ', 'é', '7'), { maxLength: 60 })
  .map((parts) => ['csv', `name,note\n${parts.join('')}`] as const)
const lines = fc
  .array(fc.constantFrom('{"name":"A"}', '7', '', ' ', '\r', '{', '"\\n"'), { maxLength: 12 })
  .map((parts) => ['ndjson', parts.join('\n')] as const)
const list = fc
  .array(fc.oneof(fc.jsonValue(), fc.constant({ name: 'a"],[\\"' })), { maxLength: 8 })
  .map((values) => ['json', JSON.stringify(values, null, 1)] as const)

/** The bytes of a text in pieces of this length. */
async function* inPieces(text: string, length: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

async function cut(text: string, format: Format, length: number): Promise<{ head: string; rows: RowText[] }> {
  const file = cutFile(inPieces(text, length), format)
  const rows: RowText[] = []
  for await (const row of file.rows) rows.push(row)
  return { head: file.cutter.head, rows }
}

function read(text: string, format: Format) {
  const reader = READERS[format]()
  return [...reader.push(text), ...reader.end()]
}

verifies(
  'import.parts',
  'a file is cut where its reader ends a row, and each row is read alone as in the file',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(csv, lines, list), fc.integer({ min: 1, max: 9 }), async ([format, text], length) => {
        const { head, rows } = await cut(text, format, length)
        const expected = read(text, format)

        const places = ({ row, line }: { row: number; line?: number }) => ({ row, line })
        expect(rows.map(places)).toEqual(expected.map(places))
        const alone = rows.flatMap((row) =>
          read(head + ('text' in row ? row.text : ''), format === 'json' ? 'ndjson' : format),
        )
        const values = (one: object) => ('value' in one ? one.value : 'refused')
        expect(alone.map(values)).toEqual(expected.map(values))
      }),
      { numRuns: RUNS * 25 },
    )
  },
)

verifies('import.parts', 'a file that is sent in parts is imported as in one, whatever its rows refer to', async () => {
  await fc.assert(
    fc.asyncProperty(knots, fc.integer({ min: 1, max: 5 }), async (nodes, most) => {
      const tenant = `t${tenants++}`
      for (const one of [tenant, `${tenant}-parts`]) await app.request('PUT', `/~${one}/schema/Knot`, KNOT)
      const rows = rowsOf(nodes)
      const { body: whole } = await app.request('POST', `/~${tenant}/import/Knot`, rows)
      const text = JSON.stringify(rows)

      const parts = await sendRows(targetOf(`${tenant}-parts`), cutFile(inPieces(text, 50), 'json'), { most })

      const rejected = ({ details }: { details: readonly { row: number }[] }) => details.map(({ row }) => row)
      expect([parts.imported, parts.errors]).toEqual([whole.imported, whole.errors])
      expect(rejected(parts)).toEqual(rejected(whole))
      expect(await idsOf(`${tenant}-parts`)).toEqual(await idsOf(tenant))
    }),
    { numRuns: Math.ceil(RUNS / 2) },
  )
})

test('the report of parts counts rows and lines as the file does', async () => {
  const file = 'name;note\n\nA;"x\ny"\n;\nB\n;\n'

  const report = await sendRows(targetOf('lines', 'Contact'), cutFile(inPieces(file, 4), 'csv'), { most: 1 })

  expect(report).toMatchObject({ imported: 2, errors: 2, assumed: { separator: ';' } })
  expect(report.details.map(({ row, line }) => [row, line])).toEqual([
    [1, 5],
    [3, 7],
  ])
})

test('a request that was interrupted continues after the rows that were stored', async () => {
  const stored: string[] = []
  const wire = wireTo({
    baseUrl: 'http://app',
    apiKey: ROOT,
    retries: 0,
    fetch: async (_, { body, headers }) => {
      const key = new Headers(headers).get('idempotency-key')!
      stored.push(`${key} ${body}`)
      // The first one breaks, and is asked for again.
      if (stored.length === 1) throw new TypeError('the connection broke')
      const progress = { error: 'conflict', field: 'Idempotency-Key', rows: 2, imported: 1, errors: 0, waiting: [0] }
      if (stored.length === 2) return Response.json({ ...progress, message: 'interrupted' }, { status: 409 })
      return Response.json({ success: true, imported: 1, errors: 0, details: [] })
    },
  })
  const file = cutFile(inPieces('{"a":0}\n{"a":1}\n{"a":2}\n', 5), 'ndjson')

  const report = await sendRows({ wire, path: '/~acme/import/Contact', query: {} }, file)

  const sent = stored.map((one) => one.split(' '))
  expect(report).toMatchObject({ imported: 3, errors: 0 })
  expect(sent.map(([, body]) => body)).toEqual([
    '{"a":0}\n{"a":1}\n{"a":2}\n',
    '{"a":0}\n{"a":1}\n{"a":2}\n',
    '{"a":2}\n',
    '{"a":0}\n',
  ])
  expect(sent[1]![0]).toBe(sent[0]![0])
  expect(new Set(sent.map(([key]) => key)).size).toBe(3)
})

test('an import that is cancelled without a connection says how many rows may be stored', async () => {
  const ending = new AbortController()
  let sent = 0
  const wire = wireTo({
    baseUrl: 'http://app',
    apiKey: ROOT,
    retries: 0,
    fetch: async () => {
      if (++sent > 1) throw new TypeError('the connection broke')
      return Response.json({ success: true, imported: 2, errors: 0, details: [] })
    },
  })
  const file = cutFile(inPieces('{"a":0}\n{"a":1}\n{"a":2}\n', 5), 'ndjson')
  const options = { most: 2, signal: ending.signal, onLost: () => ending.abort() }

  const ended = sendRows({ wire, path: '/~acme/import/Contact', query: {} }, file, options)

  await expect(ended).rejects.toMatchObject({ code: 'cancelled', about: { imported: 2, unknown: 1, success: false } })
})

test('a dry run takes no parts', async () => {
  const { status, body } = await app.request('POST', '/~dry/import/Contact?dryRun=true&more=true', [{ name: 'A' }])

  expect([status, body.field]).toEqual([400, 'more'])
})

function targetOf(tenant: string, type = 'Knot') {
  const fetch = (url: string, init: RequestInit) => app.fetch(url.slice('http://app'.length), init)
  const wire = wireTo({ baseUrl: 'http://app', apiKey: ROOT, fetch, onWarnings: () => {} })
  return { wire, path: `/~${tenant}/import/${type}`, query: {} }
}

async function idsOf(tenant: string): Promise<string[]> {
  const { body } = await app.request('GET', `/~${tenant}/Knot?limit=100`)
  return body.results.map(({ $id }: { $id: string }) => $id).sort()
}
