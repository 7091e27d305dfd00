import type { Field, Json } from '@tildebase/nouns'
import { t } from '../texts/text.ts'
import { labelOf } from '../values/format.ts'
import { isWritable, type Noun, wordsOf } from '../values/noun.ts'
import { type Guess, guessNumbers, type NumberFormat, readNumber } from '../values/number-format.ts'
import { type DateFormat, guessDates, readDate, readMoment } from './date-format.ts'
import { fieldOfMatch, type Match, type Matches } from './match.ts'
import type { Table, TableRow } from './read.ts'

/** How one column is read. */
export interface ColumnPlan {
  /** The field that it fills; null leaves the column out. */
  readonly field: string | null
  readonly numbers: Guess<NumberFormat>
  readonly dates: Guess<DateFormat>
  /** What words of the file mean that are not values of the field: `Kunde` is `Customer`. */
  readonly words: { readonly [word: string]: string }
  /** Whether entities that a relation names and that do not exist are created. */
  readonly creates: boolean
}

export type Plan = { readonly [column: string]: ColumnPlan }

/** A cell that its field cannot take. */
interface BadCell {
  readonly column: string
  readonly reason: string
}

/** What a row becomes. */
export interface Converted {
  readonly draft: { readonly [field: string]: Json }
  readonly bad: readonly BadCell[]
}

/** The plan that the names and the cells of the columns suggest: `E-Mail` is `email`, `Lead score` is `leadScore`. */
export function guessPlan(noun: Noun, { columns, rows }: Table, locale?: string): Plan {
  const fields = Object.values(noun.fields).filter(isWritable)
  const taken = new Set<string>()
  return Object.fromEntries(
    columns.map((column) => {
      const found = fields.find(({ name }) => !taken.has(name) && isCalled(name, column))
      if (found) taken.add(found.name)
      const cells = cellsOf(rows, column)
      const numbers = guessNumbers(cells, locale)
      const dates = guessDates(cells, locale)
      return [column, { field: found?.name ?? null, numbers, dates, words: {}, creates: false }]
    }),
  )
}

/** The cells of a column that are not empty. */
export function cellsOf(rows: readonly TableRow[], column: string): string[] {
  return rows.map(({ cells }) => (cells[column] ?? '').trim()).filter((cell) => cell !== '')
}

/** The words of a column that its choice field does not have, in their order. */
export function unknownWords(field: Field | undefined, cells: readonly string[]): string[] {
  if (field?.kind !== 'enum') return []
  const words = field.list ? cells.flatMap(partsOf) : cells
  return [...new Set(words)].filter((word) => wordOf(field, word) === undefined)
}

/** One row as the draft of an entity. Empty cells are left out; cells that cannot be read are named. */
export function convertRow(noun: Noun, plan: Plan, row: TableRow, matches: Matches): Converted {
  const draft: { [field: string]: Json } = {}
  const bad: BadCell[] = []
  for (const [column, how] of Object.entries(plan)) {
    const cell = (row.cells[column] ?? '').trim()
    const field = how.field === null ? undefined : noun.fields[how.field]
    if (!field || cell === '') continue
    const value = cellValue(field, cell, how, matches)
    if ('reason' in value) bad.push({ column, reason: value.reason })
    else if (value.value !== undefined) draft[field.name] = value.value
  }
  return { draft, bad }
}

type CellValue = { readonly value: Json | undefined } | { readonly reason: string }

/** What a cell means in its field, or why it means nothing there. */
export function cellValue(field: Field, cell: string, how: ColumnPlan, matches: Matches): CellValue {
  if (!field.list || field.kind === 'json') return oneValue(field, cell, how, matches)
  const values = partsOf(cell).map((part) => oneValue(field, part, how, matches))
  const wrong = values.find((value) => 'reason' in value)
  return wrong ?? { value: values.flatMap((one) => ('value' in one && one.value !== undefined ? [one.value] : [])) }
}

function oneValue(field: Field, cell: string, how: ColumnPlan, matches: Matches): CellValue {
  switch (field.kind) {
    case 'number':
      return valueOr(readNumber(cell, how.numbers.format), t('“{}” is not a number', cell))
    case 'boolean':
      return valueOr(booleanOf(cell), t('“{}” is neither yes nor no', cell))
    case 'date':
      return valueOr(readDate(cell, how.dates.format), t('“{}” is not a date', cell))
    case 'datetime':
      return valueOr(readMoment(cell, how.dates.format), t('“{}” is not a date or time', cell))
    case 'enum': {
      const meant = how.words[cell]
      const word = wordOf(field, cell) ?? (meant === undefined || meant === '' ? undefined : meant)
      return meant === LEFT_OUT
        ? { value: undefined }
        : valueOr(word ?? null, t('“{}” is not one of the choices', cell))
    }
    case 'forward':
      return relationOf(matches.get(fieldOfMatch(field))?.get(cell), cell, how.creates)
    case 'json':
      return jsonOf(cell)
    default:
      return { value: cell }
  }
}

/** The meaning of a word that people leave out. */
export const LEFT_OUT = '$leave out'

function valueOr<T extends Json>(value: T | null, reason: string): CellValue {
  return value === null ? { reason } : { value }
}

function relationOf(match: Match | undefined, cell: string, creates: boolean): CellValue {
  if (match === undefined) return { value: undefined }
  if (match.ids.length === 1) return { value: match.ids[0]! }
  if (match.ids.length > 1) return { reason: t('{} entries are called “{}”', match.ids.length, cell) }
  // It is created before the rows are sent.
  return creates ? { value: undefined } : { reason: t('“{}” was not found', cell) }
}

function jsonOf(cell: string): CellValue {
  try {
    return { value: JSON.parse(cell) as Json }
  } catch {
    return { reason: t('“{}” is not JSON', cell) }
  }
}

function booleanOf(cell: string): boolean | null {
  if (/^(true|yes|y|1|x|ja|oui|s[ií]|wahr)$/i.test(cell)) return true
  return /^(false|no|n|0|nein|non|falsch)$/i.test(cell) ? false : null
}

function wordOf(field: Field, cell: string): string | undefined {
  return wordsOf(field).find((word) => plain(word) === plain(cell) || plain(labelOf(word)) === plain(cell))
}

function partsOf(cell: string): string[] {
  return cell
    .split(/[;,]/)
    .map((part) => part.trim())
    .filter(Boolean)
}

function isCalled(name: string, column: string): boolean {
  return plain(name) === plain(column) || plain(labelOf(name)) === plain(column)
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}
