/** How long the rest of a refused body is read and thrown away. */
const LINGER_MS = 30_000

/** The body of a request. A reader may stop early and leave a rest. */
export class RequestBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | null

  constructor(stream: ReadableStream<Uint8Array> | null) {
    this.#reader = stream?.getReader() ?? null
  }

  /** The chunks as they come, or null without a body. */
  get chunks(): AsyncIterable<Uint8Array> | null {
    const reader = this.#reader
    if (!reader) return null
    const chunks: AsyncIterator<Uint8Array> = {
      next: async () => {
        const { done, value } = await reader.read()
        return done ? { done, value: undefined } : { done, value }
      },
    }
    return { [Symbol.asyncIterator]: () => chunks }
  }

  /** Reads the rest: most senders read the answer only after their body, and a connection closed before that loses it. */
  async drop(): Promise<void> {
    const reader = this.#reader
    if (!reader) return
    let late: ReturnType<typeof setTimeout> | undefined
    const isLate = new Promise<'late'>((done) => {
      late = setTimeout(() => done('late'), LINGER_MS)
    })
    try {
      for (;;) {
        const next = await Promise.race([reader.read(), isLate])
        if (next === 'late') return await reader.cancel()
        if (next.done) return
      }
    } catch {
      // The sender has disconnected.
    } finally {
      clearTimeout(late)
    }
  }
}
