import type { Field, Json } from '@tildebase/nouns'
import { isWritable, type Noun, wordsOf } from '../values/noun.ts'

/** Which field each column fills; null leaves the column out. */
export type Mapping = { readonly [column: string]: string | null }

/** The fields that the names of columns mean: `E-Mail` is `email`, `Lead score` is `leadScore`. */
export function guessMapping(noun: Noun, columns: readonly string[]): Mapping {
  const fields = Object.values(noun.fields).filter(isWritable)
  const taken = new Set<string>()
  return Object.fromEntries(
    columns.map((column) => {
      const found = fields.find(({ name }) => plain(name) === plain(column) && !taken.has(name))
      if (found) taken.add(found.name)
      return [column, found?.name ?? null]
    }),
  )
}

/** One row as the draft of an entity. Empty cells are left out. */
export function draftOf(
  noun: Noun,
  mapping: Mapping,
  row: { readonly [column: string]: string },
): { [field: string]: Json } {
  const draft: { [field: string]: Json } = {}
  for (const [column, name] of Object.entries(mapping)) {
    const cell = (row[column] ?? '').trim()
    const field = name === null ? undefined : noun.fields[name]
    if (name !== null && cell !== '') draft[name] = field ? cellValue(field, cell) : cell
  }
  return draft
}

/** A cell, converted to the type of the field. Invalid values are kept, and the service reports the error. */
export function cellValue(field: Field, cell: string): Json {
  if (field.list) return cell.split(/[;,]/).map((word) => word.trim())
  switch (field.kind) {
    case 'number':
      return numberOf(cell)
    case 'boolean':
      return /^(true|yes|y|1|x)$/i.test(cell) ? true : /^(false|no|n|0)$/i.test(cell) ? false : cell
    case 'enum':
      return wordsOf(field).find((word) => plain(word) === plain(cell)) ?? cell
    case 'date':
      return dateOf(cell)
    case 'json':
      try {
        return JSON.parse(cell) as Json
      } catch {
        return cell
      }
    default:
      return cell
  }
}

/** `1.234,50` and `1,234.50` and `€ 1234.5` are the same number. */
function numberOf(cell: string): Json {
  const digits = cell.replace(/[^\d.,-]/g, '')
  const isComma = /,\d{1,2}$/.test(digits) || /\.\d{3},/.test(digits)
  const text = isComma ? digits.replace(/\./g, '').replace(',', '.') : digits.replace(/,/g, '')
  return digits === '' || Number.isNaN(Number(text)) ? cell : Number(text)
}

/** `31.01.2026` is `2026-01-31`. Dates with slashes may mean two things and are left alone. */
function dateOf(cell: string): string {
  const [, day, month, year] = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(cell) ?? []
  return year ? `${year}-${month!.padStart(2, '0')}-${day!.padStart(2, '0')}` : cell
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}
