import { LONGEST_ROW, TOO_LONG } from '@tildebase/nouns/csv'
import { jsonValue, type Row, type RowReader } from '../rows.ts'

/** Reads JSON line by line. Empty lines are not rows. */
export function ndjsonReader(): RowReader {
  return new LineReader()
}

class LineReader implements RowReader {
  #text = ''
  #size = 0
  #row = 0
  #line = 1

  push(text: string): Row[] {
    const rows: Row[] = []
    let from = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      rows.push(...this.#take(text.slice(from, end)))
      this.#line++
      from = end + 1
    }
    this.#keep(text.slice(from))
    return rows
  }

  end(): Row[] {
    return this.#take('')
  }

  #keep(text: string): void {
    this.#size += text.length
    this.#text = this.#size > LONGEST_ROW ? '' : this.#text + text
  }

  #take(rest: string): Row[] {
    this.#keep(rest)
    const [text, size] = [this.#text, this.#size]
    this.#text = ''
    this.#size = 0
    const line = this.#line
    if (size > LONGEST_ROW) return [{ row: this.#row++, line, size: 0, error: TOO_LONG }]
    if (text.trim() === '') return []
    return [{ row: this.#row++, line, size, ...jsonValue(text) }]
  }
}
