import { layoutOf } from './layout.ts'

/** The cells of one row, with its first line in the file; `error` says why they cannot be used. */
export interface CellRow {
  readonly line: number
  readonly cells: readonly string[]
  /** The length of the text of all cells. */
  readonly size: number
  readonly error: string | null
}

/** The maximum length of a row; longer rows are reported and their cells dropped. */
export const LONGEST_ROW = 4 * 1_048_576

export const TOO_LONG = `is longer than ${LONGEST_ROW} characters`

const QUOTE = 34
const RETURN = 13
const NEWLINE = 10
const MOST_COLUMNS = 2_000

/**
 * Reads the cells of CSV as RFC 4180 has it, from text that comes bit by bit; the header is the first row. Lines may end
 * in CRLF, LF or CR; empty lines are not rows. The separator is the one that the header shows, unless it is given.
 */
export class CellReader {
  /** The text up to the end of the header, until the separator is known. */
  #head = ''
  /** How long that must be to be looked at: each time twice as long, because each look begins at its start. */
  #enough = 1
  #separator: number | null = null
  readonly #given: string | undefined
  #state: 'start' | 'plain' | 'quoted' | 'closed' = 'start'
  #cells: string[] = []
  #cell = ''
  #size = 0
  #error: string | null = null
  /** The current line, and the first line of the row. */
  #line = 1
  #began = 1
  /** A CR has ended the row: an LF right after it belongs to it. */
  #returned = false

  constructor(separator?: string) {
    this.#given = separator
  }

  /** What separates the cells, once the header was read. */
  get separator(): string | null {
    return this.#separator === null ? null : String.fromCharCode(this.#separator)
  }

  push(text: string): CellRow[] {
    if (this.#separator !== null) return this.#read(text, this.#separator)
    this.#head += text
    const isLong = this.#head.length > LONGEST_ROW
    if (!isLong && this.#head.length < this.#enough) return []
    this.#enough = 2 * this.#head.length
    const layout = layoutOf(this.#head, isLong)
    return layout === null ? [] : this.#begin(layout.separator, layout.skipped)
  }

  /** What the end of the text still yields. */
  end(): CellRow[] {
    if (this.#separator !== null) return this.#end()
    const { separator, skipped } = layoutOf(this.#head, true)!
    return [...this.#begin(separator, skipped), ...this.#end()]
  }

  /** Reads on from the header, once it is known how. */
  #begin(separator: string, skipped: string): CellRow[] {
    const head = this.#head.slice(skipped.length)
    this.#head = ''
    if (skipped !== '') this.#began = ++this.#line
    this.#separator = (this.#given ?? separator).charCodeAt(0)
    return this.#read(head, this.#separator)
  }

  #read(text: string, separator: number): CellRow[] {
    const rows: CellRow[] = []
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

  #end(): CellRow[] {
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

  #endRow(): CellRow[] {
    const row = { line: this.#began, cells: this.#cells, size: this.#size, error: this.#error }
    this.#cells = []
    this.#size = 0
    this.#error = null
    this.#began = this.#line
    return row.size === 0 && row.cells.length === 1 && row.error === null ? [] : [row]
  }
}
