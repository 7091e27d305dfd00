import { expect, test } from 'vitest'
import { cell } from './cell.ts'
import { outputTo } from './output.ts'
import { progressText } from './progress.ts'

const ADA = { $id: 'contact_0123456789abcdef', bio: 'x'.repeat(60), name: 'Ada', empty: null }
const COLUMNS = ['$id', 'bio', 'empty', 'name']

test('a terminal gets a table: no empty columns, truncated long values, complete ids', () => {
  const header = `$id                       bio${' '.repeat(37)}  name`

  expect(print({ isTTY: true, columns: 80 }, { json: false, color: false })).toBe(
    `${header}\ncontact_0123456789abcdef  ${'x'.repeat(39)}…  Ada\n`,
  )
})

test('the last column uses the remaining width, and a column without room is dropped', () => {
  expect(print({ isTTY: true, columns: 36 }, { json: false, color: false })).toBe(
    `$id                       bio\ncontact_0123456789abcdef  ${'x'.repeat(9)}…\n`,
  )
})

test('a terminal of unknown width counts as 80 columns', () => {
  const wide = print({ isTTY: true, columns: 80 }, { json: false, color: false })

  expect(print({ isTTY: true, columns: 0 }, { json: false, color: false })).toBe(wide)
  expect(print({ isTTY: true }, { json: false, color: false })).toBe(wide)
})

test('a pipe gets lines with tabs, all columns, no colours', () => {
  expect(print({}, { json: false, color: false })).toBe(`contact_0123456789abcdef\t${'x'.repeat(60)}\t\tAda\n`)
})

test('colours are used if requested', () => {
  expect(print({ isTTY: true, columns: 80 }, { json: false, color: true })).toContain('\u001b[1m$id')
})

test('JSON is JSON: on one line in a pipe, on many for a person', () => {
  expect(print({}, { json: true, color: false })).toBe(`${JSON.stringify([ADA])}\n`)
  expect(JSON.parse(print({ isTTY: true }, { json: true, color: true }))).toEqual([ADA])
})

test.each([
  ['a\tb\nc', 'a\\tb\\nc'],
  ['\u001b[31mred\u009b', '\\u001b[31mred\\u009b'],
  [{ a: 1 }, '{"a":1}'],
  [null, ''],
  [false, 'false'],
])('the cell of %j is %j', (value, expected) => {
  expect(cell(value)).toBe(expected)
})

test.each([
  [500_000, 1_000_000, 1_000, '████████████░░░░░░░░░░░░  50%  0.5 MB/s  1 s left'],
  [1_000_000, 1_000_000, 500, '████████████████████████  100%  2.0 MB/s  0 s left'],
  [3_000_000, null, 1_000, '3.0 MB  3.0 MB/s'],
])('%d of %s bytes after %d ms', (done, size, ms, expected) => {
  expect(progressText(done, size, ms)).toBe(expected)
})

function print(stream: { isTTY?: boolean; columns?: number }, options: { json: boolean; color: boolean }): string {
  let written = ''
  const stdout = { ...stream, write: (text: string) => (written += text) } as unknown as NodeJS.WriteStream
  outputTo(stdout, stdout, options).list([ADA], COLUMNS)
  return written
}

test('a restore counts events', () => {
  expect(progressText(5_000, 10_000, 1_000, 'events')).toBe('████████████░░░░░░░░░░░░  50%  5000 events/s  1 s left')
})
