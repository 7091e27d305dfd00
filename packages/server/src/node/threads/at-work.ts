const SLUG_BYTES = 64

/**
 * What two threads know of each other without a message: the tenant that one works on, which the other can read when it
 * hangs or has died, and how many calls the other has sent that it has not received. The tenant stays until the thread
 * turns to another one, because code of a hook may fail after its request was answered.
 */
export class AtWork {
  readonly memory: SharedArrayBuffer
  readonly #bytes: Uint8Array
  readonly #calls: Int32Array
  #slug = ''

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(SLUG_BYTES + Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#bytes = new Uint8Array(memory, 0, SLUG_BYTES)
    this.#calls = new Int32Array(memory, SLUG_BYTES)
  }

  /** A call was sent to the thread. */
  sent(): void {
    Atomics.add(this.#calls, 0, 1)
  }

  /** The thread received a call. */
  received(): void {
    Atomics.sub(this.#calls, 0, 1)
  }

  /** Whether calls wait for the thread. */
  get isAwaited(): boolean {
    return Atomics.load(this.#calls, 0) > 0
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
