import type { SchemaElement } from 'hyparquet-writer'
import { Bytes } from './bytes.ts'
import { type ChunkEntry, PAGE_SIZE, WRITE } from './parquet-chunk.ts'
import { bitsOf, type Encoding, Pages } from './parquet-pages.ts'
import type { Value } from './parquet-value.ts'

/** How far a list is there: no list, an empty one, an element that is null, an element. */
const NO_LIST = 0
const EMPTY = 1
const NULL = 2
const THERE = 3

/** The values of one column of lists in a group of rows, one after the other. It serves one group after the other. */
export class ListChunk {
  /** Whether no row has a list. */
  isEmpty = true
  readonly #element: SchemaElement
  readonly #path: readonly string[]
  readonly #write: (bytes: Bytes, value: never) => void
  readonly #encoding: Encoding
  #pages = new Pages()
  /** The current page: the definition levels, the repetition levels, and the values. */
  readonly #levels = new Levels()
  readonly #repeats = new Levels()
  readonly #bits = new Levels()
  readonly #values = new Bytes()
  #count = 0
  /** The row it begins with, and the one that comes next. */
  #first = 0
  #next = 0
  /** Of the whole chunk. */
  #entries = 0

  /** `path` leads to the element in the schema. */
  constructor(element: SchemaElement, path: readonly string[]) {
    this.#element = element
    this.#path = path
    this.#write = WRITE[element.type as keyof typeof WRITE]
    this.#encoding = element.type === 'BOOLEAN' ? 'RLE' : 'PLAIN'
  }

  add(row: number, values: readonly (Value | null)[]): void {
    this.isEmpty = false
    this.#skipTo(row)
    if (values.length === 0) this.#enter(0, EMPTY)
    for (let i = 0; i < values.length; i++) this.#put(Number(i > 0), values[i]!)
    this.#next = row + 1
    if (this.#values.length >= PAGE_SIZE || this.#levels.length >= PAGE_SIZE) this.#endPage()
  }

  /** Ends the chunk after so many rows: its bytes, and what the footer says of them at that offset. */
  end(rows: number, offset: number): { readonly bytes: Uint8Array; readonly entry: ChunkEntry } {
    this.#skipTo(rows)
    if (this.#first < rows) this.#endPage()
    const { bytes, size } = this.#pages
    const entry: ChunkEntry = {
      file_offset: BigInt(offset),
      meta_data: {
        type: this.#element.type!,
        encodings: [this.#encoding],
        path_in_schema: [...this.#path],
        codec: 'SNAPPY',
        num_values: BigInt(this.#entries),
        total_compressed_size: BigInt(bytes.length),
        total_uncompressed_size: BigInt(size),
        data_page_offset: BigInt(offset),
      },
    }
    this.#clear()
    return { bytes, entry }
  }

  #clear(): void {
    this.isEmpty = true
    this.#pages = new Pages()
    this.#first = 0
    this.#next = 0
    this.#entries = 0
  }

  /** The rows before this one that were not added have no list. */
  #skipTo(row: number): void {
    for (; this.#next < row; this.#next++) this.#enter(0, NO_LIST)
  }

  #put(repeat: number, value: Value | null): void {
    this.#enter(repeat, value === null ? NULL : THERE)
    if (value === null) return
    this.#count++
    if (this.#element.type === 'BOOLEAN') this.#bits.push(Number(value))
    else this.#write(this.#values, value as never)
  }

  #enter(repeat: number, level: number): void {
    this.#repeats.push(repeat)
    this.#levels.push(level)
    this.#entries++
  }

  #endPage(): void {
    const isBits = this.#element.type === 'BOOLEAN'
    this.#pages.add({
      encoding: this.#encoding,
      rows: this.#next - this.#first,
      count: this.#count,
      levels: this.#levels.written,
      levelBits: 2,
      repeats: this.#repeats.written,
      values: isBits ? bitsOf(Uint32Array.from(this.#bits.written)) : this.#values.written,
    })
    this.#first = this.#next
    this.#count = 0
    for (const one of [this.#levels, this.#repeats, this.#bits, this.#values]) one.length = 0
  }
}

/** Small numbers, as many as come. */
class Levels {
  #bytes = new Uint8Array(1_024)
  length = 0

  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.length)
  }

  push(value: number): void {
    if (this.length === this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2)
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    this.#bytes[this.length++] = value
  }
}
