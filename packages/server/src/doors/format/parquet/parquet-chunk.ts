import type { ParquetWriter, SchemaElement } from 'hyparquet-writer'
import { Bytes } from './bytes.ts'
import { Bounds } from './parquet-bounds.ts'
import { bitsOf, type Encoding, Pages, placesOf } from './parquet-pages.ts'
import type { Value } from './parquet-value.ts'

/** What the footer says of a chunk. */
export type ChunkEntry = ParquetWriter['row_groups'][number]['columns'][number]

type Dictionary = Map<Value, number>

export const PAGE_SIZE = 1_048_576
/** So many different values, or letters of them, are looked at before a chunk goes without a dictionary. */
const MANY = 4_096
const LONG = PAGE_SIZE

/**
 * The values of one column in a group of rows: as places in a dictionary while most repeat, else one by one. It serves
 * one group after the other, in the memory that it has.
 */
export class Chunk {
  /** Whether no row has a value. */
  isEmpty = true
  readonly #element: SchemaElement
  readonly #write: (bytes: Bytes, value: never) => void
  /** For each row 1 if it has a value, else 0; null where all have. */
  readonly #levels: Uint8Array | null
  #bounds = new Bounds()
  #pages = new Pages()
  #differ: boolean
  #dictionary: Dictionary | null
  /** The place of each value in the dictionary, and how many values there are. */
  readonly #places: Uint32Array
  #placed = 0
  #letters = 0
  /** The value of the row before, and its place: many columns repeat it, and comparing is cheaper than looking up. */
  #last: Value | undefined
  #lastPlace = 0
  /** The current page: its values, their number, and its first row. */
  readonly #values = new Bytes()
  #count = 0
  #first = 0
  #nulls = 0

  /** `differ` says that no two values are the same. */
  constructor(element: SchemaElement, mostRows: number, differ: boolean) {
    this.#element = element
    this.#write = WRITE[element.type as keyof typeof WRITE]
    this.#levels = element.repetition_type === 'REQUIRED' ? null : new Uint8Array(mostRows)
    this.#places = new Uint32Array(differ ? 0 : mostRows)
    this.#differ = differ
    this.#dictionary = this.#newDictionary()
  }

  add(row: number, value: Value): void {
    this.isEmpty = false
    if (this.#levels) this.#levels[row] = 1
    if (this.#dictionary === null) this.#spell(row, value)
    else this.#place(row, value, this.#dictionary)
  }

  /** Ends the chunk after so many rows: its bytes, and what the footer says of them at that offset. */
  end(rows: number, offset: number): { readonly bytes: Uint8Array; readonly entry: ChunkEntry } {
    const encoding = this.#endValues(rows, this.#dictionary)
    const { bytes } = this.#pages
    const entry = this.#entry(rows, offset, bytes.length, encoding)
    this.#clear()
    return { bytes, entry }
  }

  #clear(): void {
    this.isEmpty = true
    this.#levels?.fill(0)
    this.#bounds = new Bounds()
    this.#pages = new Pages()
    this.#dictionary = this.#newDictionary()
    this.#last = undefined
    this.#placed = 0
    this.#letters = 0
    this.#first = 0
    this.#nulls = 0
  }

  #newDictionary(): Dictionary | null {
    return this.#differ ? null : new Map(this.#element.type === 'BOOLEAN' ? BITS : [])
  }

  #place(row: number, value: Value, dictionary: Dictionary): void {
    if (value === this.#last) {
      this.#places[this.#placed++] = this.#lastPlace
      return
    }
    let place = dictionary.get(value)
    if (place === undefined) {
      place = dictionary.size
      dictionary.set(value, place)
      if (typeof value === 'string') this.#letters += value.length
    }
    this.#places[this.#placed++] = place
    this.#last = value
    this.#lastPlace = place
    const isLarge = dictionary.size > MANY || this.#letters > LONG
    if (!isLarge || this.#pays(dictionary)) return
    // What differs in one group differs in the next.
    this.#differ = true
    this.#giveUp(row + 1, dictionary)
  }

  #pays(dictionary: Dictionary): boolean {
    return this.#placed > 0 && dictionary.size * 2 <= this.#placed
  }

  /** Continues as if there had never been a dictionary. */
  #giveUp(rows: number, dictionary: Dictionary): void {
    const values = [...dictionary.keys()]
    this.#dictionary = null
    for (let row = 0, i = 0; row < rows; row++) {
      if (this.#levels === null || this.#levels[row] === 1) this.#spell(row, values[this.#places[i++]!]!)
    }
  }

  #spell(row: number, value: Value): void {
    this.#put(value)
    this.#count++
    if (this.#values.length >= PAGE_SIZE) this.#endPage(row + 1, 'PLAIN', this.#values.written)
  }

  #put(value: Value): void {
    const { length } = this.#values
    this.#write(this.#values, value as never)
    if (this.#element.converted_type !== 'JSON') this.#bounds.take(value, this.#values.length - length)
  }

  #endValues(rows: number, dictionary: Dictionary | null): Encoding {
    if (dictionary && this.#element.type === 'BOOLEAN') return this.#endBits(rows)
    if (dictionary && this.#pays(dictionary)) return this.#endPlaces(rows, dictionary)
    if (dictionary) this.#giveUp(rows, dictionary)
    if (this.#first < rows) this.#endPage(rows, 'PLAIN', this.#values.written)
    return 'PLAIN'
  }

  #endBits(rows: number): Encoding {
    this.#count = this.#placed
    this.#endPage(rows, 'RLE', bitsOf(this.#places.subarray(0, this.#placed)))
    return 'RLE'
  }

  #endPlaces(rows: number, dictionary: Dictionary): Encoding {
    for (const value of dictionary.keys()) this.#put(value)
    this.#pages.addDictionary(this.#values.written, dictionary.size)
    this.#count = this.#placed
    this.#endPage(rows, 'RLE_DICTIONARY', placesOf(this.#places.subarray(0, this.#placed), dictionary.size))
    return 'RLE_DICTIONARY'
  }

  #endPage(end: number, encoding: Encoding, values: Uint8Array): void {
    const rows = end - this.#first
    const levels = this.#levels?.subarray(this.#first, end) ?? null
    this.#pages.add({ encoding, rows, count: this.#count, levels, values })
    this.#nulls += rows - this.#count
    this.#first = end
    this.#count = 0
    this.#values.length = 0
  }

  #entry(rows: number, offset: number, length: number, encoding: Encoding): ChunkEntry {
    const { type, name } = this.#element
    const { start, size } = this.#pages
    return {
      file_offset: BigInt(offset),
      meta_data: {
        type: type!,
        encodings: [encoding],
        path_in_schema: [name],
        codec: 'SNAPPY',
        num_values: BigInt(rows),
        total_compressed_size: BigInt(length),
        total_uncompressed_size: BigInt(size),
        data_page_offset: BigInt(offset + start),
        ...(start > 0 && { dictionary_page_offset: BigInt(offset) }),
        statistics: { null_count: BigInt(this.#nulls), ...this.#bounds.statistics(type === 'INT64') },
      },
    }
  }
}

/** How a value of each type is written. */
export const WRITE = {
  BYTE_ARRAY: (bytes: Bytes, value: string) => bytes.text(value),
  DOUBLE: (bytes: Bytes, value: number) => bytes.double(value),
  INT32: (bytes: Bytes, value: number) => bytes.int32(value),
  INT64: (bytes: Bytes, value: number) => bytes.int64(value),
  BOOLEAN: () => undefined,
}

const BITS: [Value, number][] = [
  [false, 0],
  [true, 1],
]
