import type { Value } from './parquet-value.ts'

type Bound = number | boolean | bigint | Uint8Array

/** The least and the greatest of some values: readers skip what lies outside. */
export class Bounds {
  /** False once a value has come whose place among the others is another to readers. */
  #isOrdered = true
  #least: Value | undefined
  #greatest: Value | undefined

  /** Takes a value that was written in so many bytes. */
  take(value: Value, bytes: number): void {
    // Texts go by their UTF-16 units here, to readers by their bytes: beyond U+FFFF the two differ.
    if (typeof value === 'string' && bytes > value.length + 4 && ASTRAL.test(value)) this.#isOrdered = false
    if (this.#least === undefined || value < this.#least) this.#least = value
    if (this.#greatest === undefined || value > this.#greatest) this.#greatest = value
  }

  /** What the footer says of them: nothing, where the order is another. */
  statistics(areLong: boolean): { readonly min_value?: Bound; readonly max_value?: Bound } {
    if (!this.#isOrdered || this.#least === undefined) return {}
    return { min_value: boundOf(this.#least, areLong), max_value: boundOf(this.#greatest!, areLong) }
  }
}

const ASTRAL = /[\ud800-\udfff]/
/** One more than the footer shows of a string, so that it is seen to be cut. */
const MOST_LETTERS = 17
const encoder = new TextEncoder()

function boundOf(value: Value, isLong: boolean): Bound {
  if (isLong) return BigInt(value)
  // As bytes: part of a string would keep all of it in memory until the footer is written.
  return typeof value === 'string' ? encoder.encode(value.slice(0, MOST_LETTERS)) : value
}
