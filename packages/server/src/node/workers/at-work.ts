const MOST_BYTES = 64

/**
 * The tenant that a thread works on, in memory that another thread can read when this one hangs or has died. It stays
 * until the thread turns to another tenant, because code of a hook may fail after its request was answered.
 */
export class AtWork {
  readonly memory: SharedArrayBuffer
  readonly #bytes: Uint8Array
  #slug = ''

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(MOST_BYTES)) {
    this.memory = memory
    this.#bytes = new Uint8Array(memory)
  }

  /** Says that the thread turns to a tenant. It is called for every statement: the same one again costs nothing. */
  turnTo(slug: string): void {
    if (slug === this.#slug) return
    this.#slug = slug
    // A slug is ASCII. The length comes first.
    this.#bytes[0] = slug.length
    for (let i = 0; i < slug.length; i++) this.#bytes[i + 1] = slug.charCodeAt(i)
  }

  /** The tenant that the other thread turned to last. */
  read(): string | null {
    const length = this.#bytes[0]!
    return length === 0 ? null : String.fromCharCode(...this.#bytes.subarray(1, 1 + length))
  }
}
