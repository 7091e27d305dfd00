import type { Json, JsonObject } from '@tildebase/nouns'
import type { Stored } from '@tildebase/tenant'
import { secretNames } from './columns.ts'
import { Chunk } from './parquet-chunk.ts'
import { EXTRA, type FieldValues, fieldColumns, type MetaValues, metaColumns } from './parquet-columns.ts'
import type { Writing } from './write.ts'

/** A group of rows is held in memory: it ends after so many rows, or so many characters of data. */
const MOST_ROWS = 20_000
const MOST_CHARACTERS = 12 * 1_048_576

/** The columns of a file, in their order, and which fields stand nowhere. */
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
  readonly #meta: readonly Chunk[]
  readonly #fields: ReadonlyMap<string, { readonly fits: FieldValues['fits']; readonly chunk: Chunk }>
  readonly #extra = new Chunk(EXTRA, MOST_ROWS, false)
  rows = 0
  #characters = 0

  constructor(table: Table) {
    this.#table = table
    this.#meta = table.meta.map(({ element }) => new Chunk(element, MOST_ROWS, element.name === '$id'))
    this.#fields = new Map(
      table.fields.map(({ element, fits }) => [element.name, { fits, chunk: new Chunk(element, MOST_ROWS, false) }]),
    )
  }

  /** The columns in the order of the file. */
  get chunks(): readonly Chunk[] {
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

  /** Whether the value stands in a column of its own, or nowhere. */
  #take(row: number, name: string, value: Json): boolean {
    const column = this.#fields.get(name)
    const fitting = column?.fits(value)
    if (fitting === undefined) return this.#table.isHidden(name)
    column!.chunk.add(row, fitting)
    return true
  }

  /** Begins the next one. */
  clear(): void {
    this.rows = 0
    this.#characters = 0
  }
}
