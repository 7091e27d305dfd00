import { Problem } from '@tildebase/nouns'
import { LONGEST_ROW, TOO_LONG } from '@tildebase/nouns/csv'
import { jsonValue, type Row, type RowReader } from '../rows.ts'

const QUOTE = 34
const COMMA = 44
const OPEN_LIST = 91
const BACKSLASH = 92
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** Reads a JSON array element by element, without ever holding more than one. */
export function jsonReader(): RowReader {
  return new ArrayReader()
}

class ArrayReader implements RowReader {
  #state: 'before' | 'first' | 'element' | 'next' | 'after' = 'before'
  #depth = 0
  #inString = false
  #escaped = false
  /** The part of the element before the current chunk. */
  #text = ''
  #size = 0
  #row = 0
  #position = 0

  push(text: string): Row[] {
    const rows: Row[] = []
    let from = 0
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (this.#state === 'element') {
        if (!this.#ends(code)) continue
        rows.push(this.#take(text.slice(from, i)))
        this.#state = code === COMMA ? 'next' : 'after'
        continue
      }
      if (isSpace(code)) continue
      this.#open(code, this.#position + i)
      from = i
    }
    if (this.#state === 'element') this.#keep(text.slice(from))
    this.#position += text.length
    return rows
  }

  end(): Row[] {
    if (this.#state === 'after') return []
    throw this.#state === 'before' ? noArray() : broken('The JSON array is not closed', this.#row, this.#position)
  }

  /** Continues with a character between elements. */
  #open(code: number, position: number): void {
    if (this.#state === 'before') {
      if (code !== OPEN_LIST) throw noArray()
      this.#state = 'first'
    } else if (this.#state === 'first' && code === CLOSE_LIST) this.#state = 'after'
    else if (this.#state === 'after') throw broken('There is more text after the JSON array', this.#row, position)
    else {
      if (code === COMMA || code === CLOSE_LIST) throw broken('A value is missing', this.#row, position)
      this.#state = 'element'
      this.#ends(code)
    }
  }

  /** Whether the element ends before this character. */
  #ends(code: number): boolean {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false
      else if (code === BACKSLASH) this.#escaped = true
      else if (code === QUOTE) this.#inString = false
    } else if (code === QUOTE) this.#inString = true
    else if (code === OPEN_OBJECT || code === OPEN_LIST) this.#depth++
    else if (this.#depth === 0) return code === COMMA || code === CLOSE_LIST
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) this.#depth--
    return false
  }

  #keep(text: string): void {
    this.#size += text.length
    this.#text = this.#size > LONGEST_ROW ? '' : this.#text + text
  }

  #take(rest: string): Row {
    this.#keep(rest)
    const [text, size, row] = [this.#text, this.#size, this.#row++]
    this.#text = ''
    this.#size = 0
    if (size > LONGEST_ROW) return { row, size: 0, error: TOO_LONG }
    const parsed = jsonValue(text)
    // The end of an invalid element is unknown.
    if ('error' in parsed) throw broken(`The element ${parsed.error}`, row, this.#position)
    return { row, size, value: parsed.value }
  }
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9
}

function noArray(): Problem {
  return new Problem('invalid_json', 'The body must be a JSON array of objects, such as [{"name": "Ada"}].')
}

function broken(what: string, row: number, position: number): Problem {
  return new Problem('invalid_json', `${what}, in row ${row}, near character ${position}. The rest was not read.`, {
    row,
    position,
  })
}
