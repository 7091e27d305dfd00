import fc from 'fast-check'
import { afterAll, beforeAll, expect } from 'vitest'
import { type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { entityOf, exported, parquetRows } from './files.ts'

let host: TestHost
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

const Thing = {
  text: 'string',
  count: 'number',
  ok: 'boolean',
  day: 'date',
  at: 'datetime',
  any: 'json',
  words: 'string[]',
  kind: 'A | B',
}
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype', 'createdAt', 'updatedAt', ...Object.keys(Thing)])

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '',
    ' ',
    'null',
    'true',
    '1',
    '-0',
    '"x"',
    '[]',
    '{"a":1}',
    '=1+1',
    '\r\n',
    ',',
    '"',
    '""',
    '\u0000',
    '😀\ue000',
    'a\tb',
  ),
)
// Not a number like 0.1 + 0.2 is lost, but minus zero: JSON has none.
const json = fc
  .jsonValue({ stringUnit: 'binary' })
  // Names that no field may have, at any depth.
  .filter((value) => !/"(?:__proto__|constructor|prototype)":/.test(JSON.stringify(value)))
  .map((value) => JSON.parse(JSON.stringify(value)))
const instant = fc.date({
  min: new Date('0100-01-01T00:00:00Z'),
  max: new Date('9999-12-31T23:59:59Z'),
  noInvalidDate: true,
})
const thing = fc
  .record(
    {
      text,
      count: fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer()).map((n) => n + 0),
      ok: fc.boolean(),
      day: instant.map((date) => date.toISOString().slice(0, 10)),
      at: instant.map((date) => date.toISOString()),
      any: json.filter((value) => value !== null),
      words: fc.array(text),
      kind: fc.constantFrom('A', 'B'),
      others: fc.dictionary(
        text.filter((name) => !name.startsWith('$') && !FORBIDDEN.has(name)),
        json,
        { maxKeys: 4, noNullPrototype: true },
      ),
    },
    { requiredKeys: [] },
  )
  .map(({ others, ...own }) => ({ ...own, ...others }))

const CONTENT_TYPES = { json: 'application/json', ndjson: 'application/x-ndjson', csv: 'text/csv' }
let tenants = 0

async function tenantWith(rows: unknown, type = 'application/json'): Promise<string> {
  const tenant = `r${++tenants}`
  await host.request('PUT', `/~${tenant}/schema/Thing`, Thing)
  const body = typeof rows === 'object' && !(rows instanceof Uint8Array) ? JSON.stringify(rows) : (rows as string)
  const answer = await host.request('POST', `/~${tenant}/import/Thing`, body, { 'content-type': type })
  expect(answer.body).toMatchObject({ success: true, errors: 0 })
  return tenant
}

const META = /^\$(?!id$)|^(createdAt|updatedAt)$/
const fieldsOf = (entity: object) => Object.fromEntries(Object.entries(entity).filter(([name]) => !META.test(name)))

async function entities(tenant: string): Promise<object[]> {
  const { bytes } = await exported(host, `/~${tenant}/export/Thing`)
  return JSON.parse(new TextDecoder().decode(bytes)).map(fieldsOf)
}

verifies(
  [
    'export.roundTrip',
    'bulk.both',
    'csv.string',
    'csv.json',
    'csv.absent',
    'csv.typed',
    'export.csv',
    'export.ndjson',
    'export.parquet',
  ],
  'exporting and importing into an empty tenant gives the same entities, in every format, whatever they hold',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(thing, { maxLength: 8 }), async (things) => {
        const tenant = await tenantWith(things)
        const truth = await entities(tenant)
        expect(truth.map((entity) => fieldsOf({ ...entity, $id: undefined }))).toEqual(things)

        for (const [format, type] of Object.entries(CONTENT_TYPES)) {
          const { bytes } = await exported(host, `/~${tenant}/export/Thing?format=${format}`)
          expect([format, await entities(await tenantWith(bytes, type))]).toEqual([format, truth])
        }
        const { bytes } = await exported(host, `/~${tenant}/export/Thing?format=parquet`)
        const rows = await parquetRows(bytes)
        expect(rows.map((row) => fieldsOf(entityOf(row, ['day'])))).toEqual(truth)
      }),
      { numRuns: Number(process.env.TILDE_BULK_RUNS ?? 20) },
    )
  },
)
