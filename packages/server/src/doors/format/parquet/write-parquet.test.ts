import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type JsonObject, parseNoun } from '@tildebase/nouns'
import type { Stored } from '@tildebase/tenant'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DuckDBInstance } from '../../../../../../test/duckdb.ts'
import { writeParquet } from './write-parquet.ts'

const Thing = parseNoun('Thing', {
  text: 'string',
  kind: 'A | B | C',
  code: 'string',
  note: 'string',
  count: 'number',
  price: 'number',
  ok: 'boolean',
  day: 'date',
  at: 'datetime',
  any: 'json',
  never: 'string',
  off: 'boolean',
  tags: 'string[]',
  scores: 'number[]',
  flags: 'boolean[]',
  days: 'date[]',
  times: 'datetime[]',
  none: 'string[]',
})

const ROWS = 25_000
const FIRST = Date.parse('2026-01-01T00:00:00.000Z')

/** What a row has, so that every way of writing occurs: values that repeat, that differ, that are long, that are missing. */
function dataOf(i: number): JsonObject {
  const at = new Date(FIRST + i * 86_400_000).toISOString()
  return {
    ...(i % 3 > 0 && { text: `Ä ${i}` }),
    kind: 'ABC'[i % 3]!,
    // ASCII in all groups of rows but some.
    ...(i % 4 > 0 && { code: i % 9_000 === 8_999 ? `ü${i}` : `c${i}` }),
    ...(i < 600 && { note: `${i} ${'ß😀'.repeat(1_700)}` }),
    count: i % 1_000,
    ...(i % 2 > 0 && { price: i / 7 }),
    ...(i % 5 > 0 && { ok: i % 4 === 0 }),
    day: at.slice(0, 10),
    ...(i % 11 > 0 && { at }),
    ...(i % 100 === 0 && { any: [i, { a: null }] }),
    ...(i % 17 === 0 && { other: `x${i}`, never: i }),
    ...listsOf(i, at),
  }
}

/** Lists of every kind: empty ones, long ones, with nulls, of another kind than was declared, and none. */
function listsOf(i: number, at: string): JsonObject {
  return {
    ...(i % 4 > 0 && { tags: Array.from({ length: i % 6 }, (_, k) => `ü${i}.${k}`) }),
    ...(i % 9 > 0 && { scores: [i / 3, ...(i % 2 ? [null] : []), -i] }),
    ...(i % 10 === 0 && { flags: [true, false, null, i % 20 === 0] }),
    ...(i % 25 === 0 && { days: [at.slice(0, 10)], times: [at, at] }),
    ...(i % 5_000 === 7 && { none: ['a', 5] }),
    ...(i === 123 && { tags: Array.from({ length: 30_000 }, (_, k) => `long ${k} ${'x'.repeat(60)}`) }),
  }
}

const entities = Array.from(
  { length: ROWS },
  (_, i): Stored => ({
    ordinal: i,
    id: `thing_${i}`,
    type: 'Thing',
    version: (i % 70_000) + 1,
    createdAt: FIRST + i,
    createdBy: `key_${i % 3}`,
    updatedAt: FIRST - i * 1_000_000_000,
    data: JSON.stringify(dataOf(i)),
  }),
)

function fileOf(stored: readonly Stored[]): Uint8Array<ArrayBuffer> {
  const pages = function* () {
    for (let i = 0; i < stored.length; i += 700) yield stored.slice(i, i + 700)
  }
  const pieces = [...writeParquet({ noun: Thing, pages, fields: null, context: '', safe: false })]
  return new Uint8Array(Buffer.concat(pieces.filter((piece) => piece !== null) as Uint8Array[]))
}

describe('a parquet file of many rows', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-'))
  const path = join(folder, 'things.parquet')
  const bytes = fileOf(entities)
  beforeAll(() => writeFileSync(path, bytes))
  afterAll(() => rmSync(folder, { recursive: true }))

  test('is read back as it was, by another reader', async () => {
    const rows = await parquetReadObjects({ file: bytes.buffer })

    expect(rows).toHaveLength(ROWS)
    for (const [i, row] of rows.entries()) {
      const { other, never, day, at, days, times, none, ...data } = dataOf(i)
      const extra = { ...(other !== undefined && { other, never }), ...(none !== undefined && { none }) }
      expect(present(row)).toEqual({
        $id: `thing_${i}`,
        $type: 'Thing',
        $version: (i % 70_000) + 1,
        $createdAt: new Date(FIRST + i),
        $updatedAt: new Date(FIRST - i * 1_000_000_000),
        $createdBy: `key_${i % 3}`,
        ...data,
        day: new Date(String(day)),
        ...(at !== undefined && { at: new Date(String(at)) }),
        // A value of another kind than the column's stays with what is not declared.
        ...(Object.keys(extra).length > 0 && { $extra: extra }),
        ...(days !== undefined && { days: (days as string[]).map((one) => new Date(one)) }),
        ...(times !== undefined && { times: (times as string[]).map((time) => new Date(time)) }),
      })
    }
  })

  test('has dictionaries where values repeat', () => {
    const { row_groups } = parquetMetadata(bytes.buffer)
    const encodings = row_groups.map(({ columns }) =>
      Object.fromEntries(columns.map(({ meta_data }) => [meta_data!.path_in_schema[0], meta_data!.encodings[0]])),
    )

    // Rows with long texts make shorter groups.
    expect(row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([124, 397, ...Array(6).fill(4_000), 479])
    for (const one of encodings.filter((_, i) => row_groups[i]!.num_rows === 4_000n)) {
      expect(one).toMatchObject({ $id: 'PLAIN', $type: 'RLE_DICTIONARY', text: 'PLAIN', kind: 'RLE_DICTIONARY' })
      expect(one).toMatchObject({ count: 'RLE_DICTIONARY', price: 'PLAIN', ok: 'RLE', never: 'PLAIN' })
    }
  })

  test('is skipped through by its bounds without losing a row', async () => {
    const db = await (await DuckDBInstance.create(':memory:')).connect()
    const found = async (where: string) =>
      (await db.runAndReadAll(`SELECT count(*)::INTEGER FROM read_parquet('${path}') WHERE ${where}`)).getRows()[0]![0]
    const all = entities.map(({ data }) => JSON.parse(data) as JsonObject)

    expect(await found(`text = 'Ä 24998'`)).toBe(1)
    expect(await found(`price > 3500`)).toBe(all.filter(({ price }) => Number(price) > 3_500).length)
    expect(await found(`ok`)).toBe(all.filter(({ ok }) => ok === true).length)
    expect(await found(`note LIKE '599 %'`)).toBe(1)
    expect(await found(`day = DATE '2026-01-02'`)).toBe(1)
    expect(await found(`"at" >= TIMESTAMPTZ '2094-01-01 00:00:00+00'`)).toBe(
      all.filter(({ at }) => at !== undefined && String(at) >= '2094').length,
    )
    expect(await found(`"$updatedAt" < TIMESTAMPTZ '1970-01-01 00:00:00+00'`)).toBe(
      entities.filter(({ updatedAt }) => updatedAt < 0).length,
    )
    expect(await found(`never IS NULL AND off IS NULL`)).toBe(ROWS)
    expect(await found(`"$createdBy" = 'key_2'`)).toBe(entities.filter(({ ordinal }) => ordinal % 3 === 2).length)
  })

  test('has times with their zone, and lists as lists, for DuckDB', async () => {
    const db = await (await DuckDBInstance.create(':memory:')).connect()
    const rows = async (sql: string) => (await db.runAndReadAll(sql)).getRows()
    const types = Object.fromEntries(await rows(`DESCRIBE SELECT * FROM read_parquet('${path}')`).then(pairs))
    const all = entities.map(({ data }) => JSON.parse(data) as Record<string, string[]>)
    await db.run(`SET TimeZone = 'Asia/Tokyo'`)
    const [counts] = await rows(
      `SELECT sum(len(tags))::INTEGER, count(tags)::INTEGER, sum(len(flags))::INTEGER, count(none)::INTEGER,
        sum(list_sum(scores))::DOUBLE, sum(len(times))::INTEGER FROM read_parquet('${path}')`,
    )
    const [long] = await rows(`SELECT tags[30000] FROM read_parquet('${path}') WHERE "$id" = 'thing_123'`)
    const [time] = await rows(`SELECT epoch_ms("at")::DOUBLE FROM read_parquet('${path}') WHERE "$id" = 'thing_1'`)

    expect(types).toMatchObject({
      $createdAt: 'TIMESTAMP WITH TIME ZONE',
      at: 'TIMESTAMP WITH TIME ZONE',
      day: 'DATE',
      tags: 'VARCHAR[]',
      scores: 'DOUBLE[]',
      flags: 'BOOLEAN[]',
      days: 'DATE[]',
      times: 'TIMESTAMP WITH TIME ZONE[]',
    })
    const lengths = (name: string) => all.reduce((sum, one) => sum + (one[name]?.length ?? 0), 0)
    expect(counts!.slice(0, 4)).toEqual([lengths('tags'), all.filter(({ tags }) => tags).length, lengths('flags'), 0])
    expect(counts![4]).toBeCloseTo(
      all.flatMap(({ scores = [] }) => scores.map(Number)).reduce((sum, one) => sum + one, 0),
      3,
    )
    expect([counts![5], long, time]).toEqual([lengths('times'), [`long 29999 ${'x'.repeat(60)}`], [FIRST + 86_400_000]])
  })
})

function pairs(rows: readonly (readonly unknown[])[]): [string, unknown][] {
  return rows.map(([name, type]) => [String(name), type])
}

function present(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null && value !== undefined))
}
