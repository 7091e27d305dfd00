import type { Json, JsonObject } from '@tildebase/nouns'
import type { Stored } from '@tildebase/tenant'
import type { ColumnSource } from 'hyparquet-writer'
import { secretNames } from '../columns.ts'
import type { Writing } from '../write.ts'
import { EXTRA, type FieldValues, fieldColumns, type MetaValues, metaColumns, type Value } from './parquet-columns.ts'

/**
 * A group is encoded in one step, in which no other request is answered: it ends after so many rows, or so many
 * characters of data.
 */
const MOST_ROWS = 4_000
const MOST_CHARACTERS = 2 * 1_048_576

/** The columns of a file, in their order, and the fields without a column. */
export interface Table {
  readonly meta: readonly MetaValues[]
  readonly fields: readonly FieldValues[]
  readonly isHidden: (name: string) => boolean
}

export function tableOf({ noun, fields }: Pick<Writing, 'noun' | 'fields'>): Table {
  const shown = fields && new Set(['$id', '$type', ...fields])
  const isShown = (name: string) => shown === null || shown.has(name)
  const secrets = secretNames(noun)
  const isHidden = (name: string) => secrets.has(name) || !isShown(name)
  return { meta: metaColumns(isShown), fields: fieldColumns(noun, isShown), isHidden }
}

/** Rows that are written together, column by column; then the next ones. */
export class Group {
  readonly #table: Table
  readonly #meta: readonly Column[]
  readonly #fields: ReadonlyMap<string, { readonly column: Column; readonly fits: FieldValues['fits'] }>
  readonly #extra = new Column(EXTRA.name)
  rows = 0
  #characters = 0

  constructor(table: Table) {
    this.#table = table
    this.#meta = table.meta.map(({ element }) => new Column(element.name))
    this.#fields = new Map(table.fields.map(({ name, fits }) => [name, { column: new Column(name), fits }]))
  }

  get isFull(): boolean {
    return this.rows >= MOST_ROWS || this.#characters >= MOST_CHARACTERS
  }

  add(entity: Stored): void {
    const { meta } = this.#table
    const row = this.rows++
    this.#characters += entity.data.length
    for (let i = 0; i < meta.length; i++) this.#meta[i]!.set(row, meta[i]!.of(entity))
    const data = JSON.parse(entity.data) as JsonObject
    let extra = ''
    for (const name of Object.keys(data)) {
      const value = data[name]!
      if (!this.#take(row, name, value)) extra += `,${JSON.stringify(name)}:${JSON.stringify(value)}`
    }
    if (extra !== '') this.#extra.set(row, `{${extra.slice(1)}}`)
  }

  /** Ends the group: its columns in the order of the file. The next row begins another one. */
  end(): ColumnSource[] {
    const fields = Array.from(this.#fields.values(), ({ column }) => column)
    const sources = [...this.#meta, ...fields, this.#extra].map((column) => column.end(this.rows))
    this.rows = 0
    this.#characters = 0
    return sources
  }

  /** Whether the value is in its own column, or nowhere. */
  #take(row: number, name: string, value: Json): boolean {
    const field = this.#fields.get(name)
    const fitting = field?.fits(value)
    if (fitting === undefined) return this.#table.isHidden(name)
    field!.column.set(row, fitting)
    return true
  }
}

type Cell = Value | readonly (Value | null)[]

/** The values of one column in a group of rows; rows without a value are left out. */
class Column {
  readonly #name: string
  #cells: Cell[] = []
  #hasSurrogates = false
  /** The length of its texts. */
  #characters = 0

  constructor(name: string) {
    this.#name = name
  }

  set(row: number, cell: Cell): void {
    this.#cells[row] = cell
    if (typeof cell === 'string') this.#characters += cell.length
    this.#hasSurrogates ||= Array.isArray(cell) ? cell.some(isBeyondUnits) : isBeyondUnits(cell as Value)
  }

  end(rows: number): ColumnSource {
    const data = this.#written()
    data.length = rows
    this.#cells = []
    this.#hasSurrogates = false
    this.#characters = 0
    return { name: this.#name, data }
  }

  /** The values as they are given to the writer. */
  #written(): unknown[] {
    // The writer's bounds of texts are by UTF-16 units, and readers compare bytes: beyond U+FFFF the two orders differ.
    if (this.#hasSurrogates) return Array.from(this.#cells, bytesOf)
    return this.#characters <= MOST_TOGETHER && hardlyRepeats(this.#cells) ? encoded(this.#cells) : this.#cells
  }
}

const SURROGATE = /[\ud800-\udfff]/
const SAMPLE = 64
/** Longer texts are encoded one by one: together they would be in memory once more. */
const MOST_TOGETHER = 262_144
const encoder = new TextEncoder()

function isBeyondUnits(value: Value | null): boolean {
  return typeof value === 'string' && SURROGATE.test(value)
}

function bytesOf(cell: Cell | null | undefined): unknown {
  if (typeof cell === 'string') return encoder.encode(cell)
  return Array.isArray(cell) ? cell.map(bytesOf) : cell
}

/** Whether cells are texts for which the writer will make no dictionary. */
function hardlyRepeats(cells: readonly Cell[]): cells is string[] {
  const some = cells.slice(0, SAMPLE)
  return some.every((cell) => typeof cell === 'string') && new Set(some).size > some.length / 2
}

/** Texts as bytes, if they are ASCII. They are encoded together: a call for each took a sixth of the time of an export. */
function encoded(texts: string[]): unknown[] {
  const joined = texts.join('')
  const bytes = encoder.encode(joined)
  if (bytes.length > joined.length) return texts
  let end = 0
  return texts.map((text) => {
    const start = end
    end += text.length
    return bytes.subarray(start, end)
  })
}
