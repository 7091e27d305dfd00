import { catalogue } from '@tildebase/nouns'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cellText, cellValue, quotedCell, quotedHeader } from '../csv-cell.ts'
import type { Row, RowReader } from '../rows.ts'
import { csvReader } from './read-csv.ts'
import { jsonReader } from './read-json.ts'
import { ndjsonReader } from './read-ndjson.ts'

/** Reads a string in pieces that are cut at random. */
function read(reader: RowReader, text: string, cuts: readonly number[] = []): Row[] {
  const at = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length]
  const rows: Row[] = []
  for (let i = 1; i < at.length; i++) rows.push(...reader.push(text.slice(at[i - 1], at[i])))
  return [...rows, ...reader.end()]
}

const values = (rows: readonly Row[]) => rows.map((row) => ('value' in row ? row.value : row.error))
const cuts = fc.array(fc.nat(), { maxLength: 20 })
const entity = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue())

describe('a JSON array', () => {
  test('is read element by element as JSON.parse would, wherever the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(entity, fc.jsonValue())), fc.constantFrom(0, 2), cuts, (list, indent, where) => {
        const text = JSON.stringify(list, null, indent)
        expect(values(read(jsonReader(), text, where))).toEqual(JSON.parse(text))
      }),
    )
  })

  test.each([
    ['nothing', ''],
    ['an object', '{"name": "Ada"}'],
    ['an array that is not closed', '[{"name": "Ada"}'],
    ['an element that is cut off', '[{"name": "Ada"}, {"na'],
    ['an element that is no JSON', '[{"name": Ada}, {"name": "Bob"}]'],
    ['a missing value', '[{},,{}]'],
    ['a comma at the end', '[{},]'],
    ['something after it', '[{}] {}'],
  ])('%s is refused', (_, text) => {
    expect(() => read(jsonReader(), text)).toThrow(expect.objectContaining({ code: 'invalid_json' }))
  })

  test('an element that is too long is skipped, reported, and not kept in memory', () => {
    const text = `[{"a": "${'x'.repeat(5_000_000)}"}, {"b": 1}]`

    expect(values(read(jsonReader(), text, [1_000_000, 2_000_000]))).toEqual([
      expect.stringContaining('is longer than'),
      { b: 1 },
    ])
  })
})

describe('NDJSON', () => {
  test('is read line by line, wherever the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(entity), fc.constantFrom('\n', '\r\n', '\n\n'), cuts, (list, between, where) => {
        const text = list.map((one) => JSON.stringify(one)).join(between)
        expect(values(read(ndjsonReader(), text, where))).toEqual(list.map((one) => JSON.parse(JSON.stringify(one))))
      }),
    )
  })

  test('an invalid line is reported with its row and its line', () => {
    expect(read(ndjsonReader(), '{"a":1}\n\n{oops}\n[]\n')).toMatchObject([
      { row: 0, line: 1, value: { a: 1 } },
      { row: 1, line: 3, error: expect.stringContaining('is not valid JSON') },
      { row: 2, line: 4, value: [] },
    ])
  })
})

describe('CSV', () => {
  const cells = fc.array(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 3, maxLength: 3 }))

  test('any text can be in a cell, wherever the stream is cut', () => {
    fc.assert(
      fc.property(cells, fc.constantFrom('\n', '\r\n', '\r'), cuts, (rows, end, where) => {
        const lines = [['x', 'y', 'z'], ...rows.map((row) => row.map((cell) => `${cell}.`))]
        const text = lines.map((row) => row.map(quotedCell).join(',')).join(end)
        const read1 = values(read(csvReader(catalogue.Contact), text, where))
        expect(read1).toEqual(rows.map(([x, y, z]) => ({ x: `${x}.`, y: `${y}.`, z: `${z}.` })))
      }),
    )
  })

  test('rows and lines are counted as the sender would', () => {
    const text = 'name,phone\r\n"Ada\r\nLovelace",1\r\n\r\nBob,2,3\r\n"x"y,1\r\nEve'

    expect(read(csvReader(catalogue.Contact), text)).toMatchObject([
      { row: 0, line: 2, value: { name: 'Ada\r\nLovelace', phone: '1' } },
      { row: 1, line: 5, error: 'has 3 cells, but the header names 2' },
      { row: 2, line: 6, error: 'has text after a closing quote' },
      { row: 3, line: 7, value: { name: 'Eve' } },
    ])
  })

  test('a name with what other files separate by comes back from a header', () => {
    const names = ['a;b;c;d', 'e\tf\tg', 'h|i|j|k']
    const text = `${names.map(quotedHeader).join(',')}\n1.,2.,3.\n`

    expect(values(read(csvReader(catalogue.Contact), text))).toEqual([
      { 'a;b;c;d': '1.', 'e\tf\tg': '2.', 'h|i|j|k': '3.' },
    ])
  })

  test('a quote that is never closed is reported', () => {
    expect(read(csvReader(catalogue.Contact), 'name\n"Ada')).toMatchObject([
      { row: 0, error: expect.stringContaining('not closed') },
    ])
  })

  test('a header that names a column twice is refused', () => {
    expect(() => read(csvReader(catalogue.Contact), 'name,name\n')).toThrow('twice')
  })

  test('every value comes back from its cell', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.parse(JSON.stringify(value))
        expect(cellValue(cellText(json, false), undefined)).toEqual(json)
      }),
    )
  })

  test.each([
    ['a number', 'leadScore', '12.5', 12.5],
    ['a string of digits', 'phone', '00123', '00123'],
    ['a string that is a JSON text', 'phone', '"00123"', '00123'],
    ['a string that says null', 'name', 'null', 'null'],
    ['an undeclared number', 'seats', '3', 3],
    ['an undeclared text', 'seats', 'three', 'three'],
    ['no value', 'name', '', undefined],
    ['an empty text', 'name', '""', ''],
    ['what is no number, to be told', 'leadScore', 'many', 'many'],
  ])('%s is read by its type', (_, name, cell, expected) => {
    const field = catalogue.Contact.fields[name as 'name']

    expect(cellValue(cell, field)).toEqual(expected)
  })
})
