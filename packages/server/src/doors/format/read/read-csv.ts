import { type Json, type Noun, SOURCE } from '@tildebase/nouns'
import { cellValue } from '../csv-cell.ts'
import { LONGEST_ROW, type Row, type RowReader, TOO_LONG } from '../rows.ts'
import { columnsOf, fieldsOf, layoutOf } from './csv-header.ts'

const QUOTE = 34
const RETURN = 13
const NEWLINE = 10
const MOST_COLUMNS = 2_000

/**
 * Reads CSV as RFC 4180 has it, the header first. Lines may end in CRLF, LF or CR; empty lines are not rows. What
 * spreadsheets make of it is taken too: other separators, and headers that are written otherwise than the fields.
 */
export function csvReader(noun: Noun): CsvReader {
  return new CsvReader(noun)
}

export class CsvReader implements RowReader {
  readonly #noun: Noun
  /** The text up to the end of the header, until the separator is known. */
  #head = ''
  #separator: number | null = null
  /** What was taken for granted, beyond RFC 4180. */
  readonly assumed: { separator?: string; columns?: { readonly [header: string]: string } } = {}
  #columns: readonly string[] | null = null
  #state: 'start' | 'plain' | 'quoted' | 'closed' = 'start'
  #cells: string[] = []
  #cell = ''
  #size = 0
  #error: string | null = null
  #row = 0
  /** The current line, and the first line of the row. */
  #line = 1
  #began = 1
  /** A CR has ended the row: an LF right after it belongs to it. */
  #returned = false

  constructor(noun: Noun) {
    this.#noun = noun
  }

  push(text: string): Row[] {
    if (this.#separator !== null) return this.#read(text, this.#separator)
    this.#head += text
    const layout = layoutOf(this.#head, this.#head.length > LONGEST_ROW)
    return layout === null ? [] : this.#begin(layout.separator, layout.skipped)
  }

  /** Reads on from the header, once it is known how. */
  #begin(separator: string, skipped: string): Row[] {
    const head = this.#head.slice(skipped.length)
    this.#head = ''
    if (separator !== ',') this.assumed.separator = separator
    if (skipped !== '') this.#began = ++this.#line
    this.#separator = separator.charCodeAt(0)
    return this.#read(head, this.#separator)
  }

  #read(text: string, separator: number): Row[] {
    const rows: Row[] = []
    let from = 0
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      const second = this.#returned && code === NEWLINE
      this.#returned = false
      if (second) {
        from = i + 1
        continue
      }
      if (this.#state === 'quoted') {
        if (code === QUOTE) {
          this.#keep(text.slice(from, i))
          this.#state = 'closed'
          from = i + 1
        } else if (code === NEWLINE) this.#line++
      } else if (code === separator || code === NEWLINE || code === RETURN) {
        this.#keep(text.slice(from, i))
        this.#endCell()
        from = i + 1
        if (code === separator) continue
        this.#line++
        this.#returned = code === RETURN
        rows.push(...this.#endRow())
      } else if (code === QUOTE && this.#state !== 'plain') {
        // Two quotes inside a quoted cell are one.
        if (this.#state === 'closed') this.#keep('"')
        this.#state = 'quoted'
        from = i + 1
      } else {
        if (this.#state === 'closed') this.#error ??= 'has text after a closing quote'
        this.#state = 'plain'
      }
    }
    this.#keep(text.slice(from))
    return rows
  }

  end(): Row[] {
    if (this.#separator !== null) return this.#end()
    const { separator, skipped } = layoutOf(this.#head, true)!
    return [...this.#begin(separator, skipped), ...this.#end()]
  }

  #end(): Row[] {
    if (this.#state === 'quoted') this.#error ??= 'has a quoted cell that is not closed'
    if (this.#state === 'start' && this.#cells.length === 0) return []
    this.#endCell()
    return this.#endRow()
  }

  #keep(text: string): void {
    this.#size += text.length
    if (this.#size > LONGEST_ROW) this.#error = TOO_LONG
    this.#cell = this.#error === null ? this.#cell + text : ''
  }

  #endCell(): void {
    if (this.#cells.length >= MOST_COLUMNS) this.#error ??= `has more than ${MOST_COLUMNS} cells`
    else this.#cells.push(this.#cell)
    this.#cell = ''
    this.#state = 'start'
  }

  #endRow(): Row[] {
    const [cells, size, error, line] = [this.#cells, this.#size, this.#error, this.#began]
    this.#cells = []
    this.#size = 0
    this.#error = null
    this.#began = this.#line
    if (size === 0 && cells.length === 1 && error === null) return []
    if (this.#columns === null) {
      const names = columnsOf(cells, error)
      const fields = fieldsOf(names, this.#noun)
      if (fields.size > 0) this.assumed.columns = Object.fromEntries(fields)
      this.#columns = names.map((name) => fields.get(name) ?? name)
      return []
    }
    const row = this.#row++
    if (error !== null) return [{ row, line, size: 0, error }]
    if (cells.length > this.#columns.length) {
      const message = `has ${cells.length} cells, but the header names ${this.#columns.length}`
      return [{ row, line, size, error: message }]
    }
    return [{ row, line, size, value: this.#valueOf(cells, this.#columns) }]
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
