/** Values one after the other as parquet has them, in bytes that grow. */
export class Bytes {
  #bytes = new Uint8Array(1_024)
  #view = new DataView(this.#bytes.buffer)
  length = 0

  /** All that was written, until more is. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.length)
  }

  int32(value: number): void {
    this.#grow(4)
    this.#view.setInt32(this.length, value, true)
    this.length += 4
  }

  int64(value: number): void {
    this.#grow(8)
    const high = Math.floor(value / TWO_TO_32)
    this.#view.setUint32(this.length, value - high * TWO_TO_32, true)
    this.#view.setInt32(this.length + 4, high, true)
    this.length += 8
  }

  double(value: number): void {
    this.#grow(8)
    this.#view.setFloat64(this.length, value, true)
    this.length += 8
  }

  /** A string, after its length in bytes. */
  text(text: string): void {
    this.#grow(4 + text.length * MOST_BYTES_OF_UNIT)
    const start = this.length + 4
    const bytes = this.#bytes
    let end = start
    // A short text is written faster here than handed over.
    const near = Math.min(text.length, SHORT)
    for (let code = 0; end - start < near; bytes[end++] = code) {
      code = text.charCodeAt(end - start)
      if (code > ASCII) break
    }
    const here = end - start
    if (here < text.length) end += encoder.encodeInto(here === 0 ? text : text.slice(here), bytes.subarray(end)).written
    this.#view.setInt32(start - 4, end - start, true)
    this.length = end
  }

  #grow(by: number): void {
    if (this.length + by <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + by))
    larger.set(this.written)
    this.#bytes = larger
    this.#view = new DataView(larger.buffer)
  }
}

const TWO_TO_32 = 4_294_967_296
const MOST_BYTES_OF_UNIT = 3
const SHORT = 64
const ASCII = 127
const encoder = new TextEncoder()
