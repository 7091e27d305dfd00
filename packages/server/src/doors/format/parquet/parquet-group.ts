import type { Json, JsonObject } from '@tildebase/nouns'
import type { Stored } from '@tildebase/tenant'
import { secretNames } from '../columns.ts'
import type { Writing } from '../write.ts'
import { Chunk } from './parquet-chunk.ts'
import { EXTRA, type FieldValues, fieldColumns, listPath, type MetaValues, metaColumns } from './parquet-columns.ts'
import { ListChunk } from './parquet-list-chunk.ts'

/** A group of rows is held in memory: it ends after so many rows, or so many characters of data. */
const MOST_ROWS = 20_000
const MOST_CHARACTERS = 12 * 1_048_576

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

interface Column {
  readonly chunk: Chunk | ListChunk
  /** Whether the value of a row is in this column. */
  readonly take: (row: number, value: Json) => boolean
}

function columnOf(values: FieldValues): [name: string, Column] {
  if (values.isList) {
    const chunk = new ListChunk(values.element, listPath(values))
    const { name, fits } = values
    const take = (row: number, value: Json) => {
      const list = fits(value)
      if (list !== undefined) chunk.add(row, list)
      return list !== undefined
    }
    return [name, { chunk, take }]
  }
  const { element, fits } = values
  const chunk = new Chunk(element, MOST_ROWS, false)
  const take = (row: number, value: Json) => {
    const one = fits(value)
    if (one !== undefined) chunk.add(row, one)
    return one !== undefined
  }
  return [element.name, { chunk, take }]
}

/** Rows that are written together, column by column; then the next ones. */
export class Group {
  readonly #table: Table
  readonly #meta: readonly Chunk[]
  readonly #fields: ReadonlyMap<string, Column>
  readonly #extra = new Chunk(EXTRA, MOST_ROWS, false)
  rows = 0
  #characters = 0

  constructor(table: Table) {
    this.#table = table
    this.#meta = table.meta.map(({ element }) => new Chunk(element, MOST_ROWS, element.name === '$id'))
    this.#fields = new Map(table.fields.map(columnOf))
  }

  /** The columns in the order of the file. */
  get chunks(): readonly (Chunk | ListChunk)[] {
    return [...this.#meta, ...[...this.#fields.values()].map(({ chunk }) => chunk), this.#extra]
  }

  get isFull(): boolean {
    return this.rows >= MOST_ROWS || this.#characters >= MOST_CHARACTERS
  }

  add(entity: Stored): void {
    const { meta } = this.#table
    const row = this.rows++
    this.#characters += entity.data.length
    for (let i = 0; i < meta.length; i++) this.#meta[i]!.add(row, meta[i]!.of(entity))
    const data = JSON.parse(entity.data) as JsonObject
    let extra = ''
    for (const name of Object.keys(data)) {
      const value = data[name]!
      if (!this.#take(row, name, value)) extra += `,${JSON.stringify(name)}:${JSON.stringify(value)}`
    }
    if (extra !== '') this.#extra.add(row, `{${extra.slice(1)}}`)
  }

  /** Whether the value is in its own column, or nowhere. */
  #take(row: number, name: string, value: Json): boolean {
    return this.#fields.get(name)?.take(row, value) || this.#table.isHidden(name)
  }

  /** Begins the next one. */
  clear(): void {
    this.rows = 0
    this.#characters = 0
  }
}
