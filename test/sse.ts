/** One message of a live stream. */
export interface Message {
  readonly id: string
  readonly event: string
  readonly data: any
}

/** A reader of a live stream that keeps what came. */
export class Sse {
  readonly messages: Message[] = []
  readonly comments: string[] = []
  status = 0
  headers = new Headers()
  /** Settles when the stream has ended, by either side. */
  readonly ended: Promise<void>
  readonly #abort = new AbortController()
  #opened!: () => void
  readonly #open: Promise<void>

  private constructor(url: string, key: string, headers: Record<string, string>) {
    this.#open = new Promise((done) => {
      this.#opened = done
    })
    this.ended = this.#run(url, key, headers)
      .catch(() => {})
      .finally(() => this.#opened())
  }

  /** Opens a stream; done when its first bytes are there. */
  static async open(url: string, key: string, headers: Record<string, string> = {}): Promise<Sse> {
    const sse = new Sse(url, key, headers)
    await sse.#open
    return sse
  }

  /** The messages once there are so many. */
  async got(count: number, ms = 40_000): Promise<readonly Message[]> {
    for (const end = Date.now() + ms; this.messages.length < count; await new Promise((done) => setTimeout(done, 5))) {
      if (Date.now() > end) throw new Error(`There were ${this.messages.length} messages and not ${count}.`)
    }
    return this.messages
  }

  close(): void {
    this.#abort.abort()
  }

  async #run(url: string, key: string, headers: Record<string, string>): Promise<void> {
    const response = await fetch(url, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${key}`, ...headers },
      signal: this.#abort.signal,
    })
    this.status = response.status
    this.headers = response.headers
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of response.body!) {
      this.#opened()
      rest += decoder.decode(chunk, { stream: true })
      const blocks = rest.split('\n\n')
      rest = blocks.pop()!
      for (const block of blocks) this.#take(block)
    }
  }

  #take(block: string): void {
    const field = (name: string) =>
      block
        .split('\n')
        .filter((line) => line.startsWith(`${name}: `))
        .map((line) => line.slice(name.length + 2))
        .join('\n')
    if (block.startsWith(':')) this.comments.push(block)
    else if (field('data') !== '') {
      this.messages.push({ id: field('id'), event: field('event'), data: JSON.parse(field('data')) })
    }
  }
}
