import { type Json, type Noun, SOURCE } from '@tildebase/nouns'
import { CellReader, type CellRow } from '@tildebase/nouns/csv'
import { cellValue, isHalf } from '../csv-cell.ts'
import type { Row, RowReader } from '../rows.ts'
import { columnsOf, fieldsOf } from './csv-header.ts'

/**
 * Reads CSV as RFC 4180 has it, the header first. Lines may end in CRLF, LF or CR; empty lines are not rows. What
 * spreadsheets make of it is taken too: other separators, and headers that are written otherwise than the fields.
 */
export function csvReader(noun: Noun, isStrict = false): CsvReader {
  return new CsvReader(noun, isStrict)
}

export class CsvReader implements RowReader {
  readonly #noun: Noun
  readonly #isStrict: boolean
  readonly #reader = new CellReader()
  /** What was taken for granted, beyond RFC 4180. */
  readonly assumed: { separator?: string; columns?: { readonly [header: string]: string } } = {}
  #columns: readonly string[] | null = null
  #row = 0

  /** A strict reader refuses rows with fewer cells than the header has. */
  constructor(noun: Noun, isStrict: boolean) {
    this.#noun = noun
    this.#isStrict = isStrict
  }

  push(text: string): Row[] {
    return this.#rowsOf(this.#reader.push(text))
  }

  end(): Row[] {
    return this.#rowsOf(this.#reader.end())
  }

  #rowsOf(rows: readonly CellRow[]): Row[] {
    const [header, ...rest] = this.#columns === null ? rows : [null, ...rows]
    if (header) this.#take(header)
    const columns = this.#columns
    return columns === null ? [] : rest.map((row) => this.#rowOf(row!, columns))
  }

  #take({ cells, error }: CellRow): void {
    const names = columnsOf(cells, error)
    const fields = fieldsOf(names, this.#noun)
    if (this.#reader.separator !== ',') this.assumed.separator = this.#reader.separator!
    if (fields.size > 0) this.assumed.columns = Object.fromEntries(fields)
    this.#columns = names.map((name) => fields.get(name) ?? name)
  }

  #rowOf({ line, cells, size, error }: CellRow, columns: readonly string[]): Row {
    const row = this.#row++
    if (error !== null) return { row, line, size: 0, error }
    if (cells.length > columns.length || (this.#isStrict && cells.length < columns.length)) {
      return { row, line, size, error: `has ${cells.length} cells, but the header names ${columns.length}` }
    }
    if (cells.some(isHalf)) return { row, line, size, error: 'has half of a surrogate pair, which is not text' }
    return { row, line, size, value: this.#valueOf(cells, columns) }
  }

  #valueOf(cells: readonly string[], columns: readonly string[]): { [field: string]: Json } {
    const { fields } = this.#noun
    const entries: [string, Json][] = []
    for (let i = 0; i < cells.length; i++) {
      const name = columns[i]!
      // Meta-fields are always strings, but for the list of sources.
      const value =
        name.startsWith('$') && name !== SOURCE.name
          ? cells[i] || undefined
          : cellValue(cells[i]!, Object.hasOwn(fields, name) ? fields[name] : undefined)
      if (value !== undefined) entries.push([name, value])
    }
    return Object.fromEntries(entries)
  }
}
