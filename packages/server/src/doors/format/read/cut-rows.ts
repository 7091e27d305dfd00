import { Problem } from '@tildebase/nouns'
import { anyDecoder, type Decoder, LONGEST_ROW, layoutOf, TOO_LONG, utf8Decoder } from '@tildebase/nouns/csv'
import { jsonReader } from './read-json.ts'

/** A row of a file as text with its line end, or why it has none; and its place, as readers count it. */
export type RowText = { readonly row: number; readonly line?: number } & (
  | { readonly text: string }
  | { readonly error: string }
)

/** Cuts text that comes bit by bit into rows, so that a long file can be sent in parts. */
export interface RowCutter {
  /** The Content-Type of the rows: a list in JSON becomes a line for each element. */
  readonly type: string
  /** What each part begins with: the header of CSV. */
  readonly head: string
  push(text: string): RowText[]
  /** What the end of the text still yields. */
  end(): RowText[]
}

const CUTTERS: { readonly [format: string]: () => RowCutter } = {
  json: elementCutter,
  ndjson: () => new LineCutter(),
  jsonl: () => new LineCutter(),
  csv: () => new CsvCutter(),
}

const NDJSON = 'application/x-ndjson'

/** Cuts a file of a format that an import takes. `encoding` is known after its rows. */
export function cutFile(bytes: AsyncIterable<Uint8Array>, format: string): CutFile {
  const cutter = CUTTERS[format]!()
  const decoder = format === 'csv' ? anyDecoder(undefined) : utf8Decoder()
  const rows = async function* () {
    for await (const chunk of bytes) yield* cutter.push(decoder.decode(chunk))
    yield* cutter.push(decoder.end())
    yield* cutter.end()
  }
  return { cutter, decoder, rows: rows() }
}

export interface CutFile {
  readonly cutter: RowCutter
  readonly decoder: Decoder
  readonly rows: AsyncIterable<RowText>
}

function elementCutter(): RowCutter {
  const reader = jsonReader()
  const cut = (rows: ReturnType<typeof reader.push>) =>
    rows.map((one) => ({ row: one.row, ...('error' in one ? one : { text: `${JSON.stringify(one.value)}\n` }) }))
  return { type: NDJSON, head: '', push: (text) => cut(reader.push(text)), end: () => cut(reader.end()) }
}

/** Collects the text of a row, and no more of it than a row may have. */
class RowBuffer {
  #text = ''
  #isTooLong = false

  add(text: string): void {
    this.#isTooLong ||= this.#text.length + text.length > LONGEST_ROW
    this.#text = this.#isTooLong ? '' : this.#text + text
  }

  take(): { readonly text: string } | { readonly error: string } {
    const taken = this.#isTooLong ? { error: `The row ${TOO_LONG}.` } : { text: this.#text }
    this.#text = ''
    this.#isTooLong = false
    return taken
  }
}

class LineCutter implements RowCutter {
  readonly type = NDJSON
  readonly head = ''
  readonly #buffer = new RowBuffer()
  #row = 0
  #line = 1

  push(text: string): RowText[] {
    const rows: RowText[] = []
    let from = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      this.#buffer.add(text.slice(from, end))
      rows.push(...this.end())
      this.#line++
      from = end + 1
    }
    this.#buffer.add(text.slice(from))
    return rows
  }

  end(): RowText[] {
    const taken = this.#buffer.take()
    if ('error' in taken) return [{ row: this.#row++, line: this.#line, ...taken }]
    return taken.text.trim() === '' ? [] : [{ row: this.#row++, line: this.#line, text: `${taken.text}\n` }]
  }
}

/** Cuts CSV where its reader ends a row: not at the ends of lines in quoted cells. */
class CsvCutter implements RowCutter {
  readonly type = 'text/csv'
  head = ''
  /** The text until the separator is known. */
  #start = ''
  #separator: string | null = null
  #hasHeader = false
  #state: 'start' | 'plain' | 'quoted' | 'closed' = 'start'
  readonly #buffer = new RowBuffer()
  #row = 0
  #line = 1
  #began = 1
  #returned = false

  push(text: string): RowText[] {
    if (this.#separator !== null) return this.#cut(text, this.#separator)
    this.#start += text
    return this.#begin(this.#start.length > LONGEST_ROW)
  }

  end(): RowText[] {
    const rows = this.#separator === null ? this.#begin(true) : []
    return [...rows, ...this.#endRow()]
  }

  #begin(isAll: boolean): RowText[] {
    const layout = layoutOf(this.#start, isAll)
    if (layout === null) return []
    const text = this.#start.slice(layout.skipped.length)
    this.#start = ''
    this.#separator = layout.separator
    this.head = layout.skipped
    if (layout.skipped !== '') this.#began = ++this.#line
    return this.#cut(text, layout.separator)
  }

  #cut(text: string, separator: string): RowText[] {
    const rows: RowText[] = []
    let from = 0
    for (let i = 0; i < text.length; i++) {
      const letter = text[i]!
      const isSecond = this.#returned && letter === '\n'
      this.#returned = false
      if (isSecond) from = i + 1
      else if (this.#state === 'quoted') {
        if (letter === '"') this.#state = 'closed'
        else if (letter === '\n') this.#line++
      } else if (letter === separator) this.#state = 'start'
      else if (letter === '\n' || letter === '\r') {
        this.#buffer.add(text.slice(from, i))
        from = i + 1
        this.#line++
        this.#returned = letter === '\r'
        rows.push(...this.#endRow())
      } else this.#state = letter === '"' && this.#state !== 'plain' ? 'quoted' : 'plain'
    }
    this.#buffer.add(text.slice(from))
    return rows
  }

  #endRow(): RowText[] {
    const line = this.#began
    const taken = this.#buffer.take()
    this.#state = 'start'
    this.#began = this.#line
    if ('text' in taken && (taken.text === '' || taken.text === '""')) return []
    if (this.#hasHeader)
      return [{ row: this.#row++, line, ...('error' in taken ? taken : { text: `${taken.text}\n` }) }]
    this.#hasHeader = true
    if ('error' in taken) throw new Problem('invalid_body', `The header ${TOO_LONG}.`)
    this.head += `${taken.text}\n`
    return []
  }
}
