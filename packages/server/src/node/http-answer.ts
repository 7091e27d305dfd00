const MOST_HEAD = 16_384
const MOST_CHUNK_LINE = 1_024
const END_OF_HEAD = Buffer.from('\r\n\r\n')
const NOTHING = Buffer.alloc(0)

/** What follows the head of an answer. */
type Body =
  | { readonly kind: 'length'; left: number }
  | { readonly kind: 'chunked'; part: 'size' | 'data' | 'line' | 'trailer'; left: number }
  | { readonly kind: 'rest' }

/** Reads one answer of HTTP/1.1 from the bytes of a connection. Throws an error with a sentence if it is malformed. */
export class AnswerReader {
  /** 0 until the head has arrived. */
  status = 0
  isComplete = false
  /** Whether the connection can be used again after it. */
  isKept = false
  /** How long the body is so far. */
  length = 0
  readonly #keepsBody: boolean
  readonly #pieces: Buffer[] = []
  #rest: Buffer = NOTHING
  #body: Body | null = null

  constructor(keepsBody: boolean) {
    this.#keepsBody = keepsBody
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString()
  }

  /** Whether a byte of it has arrived. */
  get hasBegun(): boolean {
    return this.status > 0 || this.#rest.length > 0
  }

  take(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    while (this.#body === null && this.#readHead());
    if (this.#body !== null && !this.isComplete) this.#readBody(this.#body)
    // More than one answer was sent to one request.
    if (this.isComplete && this.#rest.length > 0) this.isKept = false
  }

  /** The connection has ended: so has an answer that names no length. */
  end(): void {
    if (this.#body?.kind === 'rest') this.isComplete = true
  }

  /** Reads a head if all of it has arrived. Returns whether another one follows. */
  #readHead(): boolean {
    const end = this.#rest.indexOf(END_OF_HEAD)
    if (end > MOST_HEAD || (end < 0 && this.#rest.length > MOST_HEAD)) throw new Error('The answer has a long head.')
    if (end < 0) return false
    const [first, ...lines] = this.#rest.toString('latin1', 0, end).split('\r\n')
    this.#rest = this.#rest.subarray(end + END_OF_HEAD.length)
    const [, minor, digits] = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(first!) ?? []
    if (digits === undefined || digits === '101') throw new Error('The answer is not HTTP/1.1.')
    const status = Number(digits)
    // Such as 100 and 103: the answer follows.
    if (status < 200) return true
    const { length, coding, connection } = factsOf(lines)
    const isKept = minor === '1' ? !/\bclose\b/i.test(connection) : /\bkeep-alive\b/i.test(connection)
    this.#body =
      status === 204 || status === 304
        ? { kind: 'length', left: 0 }
        : coding !== ''
          ? /(?:^|,)\s*chunked\s*$/i.test(coding)
            ? { kind: 'chunked', part: 'size', left: 0 }
            : { kind: 'rest' }
          : length === null
            ? { kind: 'rest' }
            : { kind: 'length', left: length }
    this.isKept = isKept && this.#body.kind !== 'rest'
    this.status = status
    return false
  }

  #readBody(body: Body): void {
    if (body.kind === 'chunked') {
      while (!this.isComplete && this.#readChunk(body));
      return
    }
    const count = body.kind === 'rest' ? this.#rest.length : Math.min(body.left, this.#rest.length)
    this.#keep(count)
    if (body.kind === 'length') body.left -= count
    if (body.kind === 'length' && body.left === 0) this.isComplete = true
  }

  /** Reads the next part of a chunk. Returns whether there was enough of it to continue. */
  #readChunk(body: Body & { readonly kind: 'chunked' }): boolean {
    if (body.part === 'data') {
      const count = Math.min(body.left, this.#rest.length)
      this.#keep(count)
      body.left -= count
      if (body.left > 0) return false
      body.part = 'line'
    }
    const end = this.#rest.indexOf('\r\n')
    if (end < 0 && this.#rest.length > MOST_CHUNK_LINE) throw new Error('The answer has a malformed chunk.')
    if (end < 0) return false
    const line = this.#rest.toString('latin1', 0, end)
    this.#rest = this.#rest.subarray(end + 2)
    if (body.part === 'trailer') this.isComplete = line === ''
    else if (body.part === 'line') {
      if (line !== '') throw new Error('The answer has a malformed chunk.')
      body.part = 'size'
    } else {
      const [, digits] = /^([0-9a-f]{1,8})\s*(?:;|$)/i.exec(line) ?? []
      if (digits === undefined) throw new Error('The answer has a malformed chunk.')
      body.left = Number.parseInt(digits, 16)
      body.part = body.left === 0 ? 'trailer' : 'data'
    }
    return true
  }

  #keep(count: number): void {
    if (count === 0) return
    if (this.#keepsBody) this.#pieces.push(this.#rest.subarray(0, count))
    this.#rest = this.#rest.subarray(count)
    this.length += count
  }
}

/** What the lines of a head tell about the body and the connection. */
function factsOf(lines: readonly string[]): { length: number | null; coding: string; connection: string } {
  let length: string | null = null
  let coding = ''
  let connection = ''
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    if (name !== 'content-length' && name !== 'transfer-encoding' && name !== 'connection') continue
    const value = line.slice(colon + 1).trim()
    if (name === 'transfer-encoding') coding = coding === '' ? value : `${coding},${value}`
    else if (name === 'connection') connection = `${connection},${value}`
    else if (!/^\d{1,15}$/.test(value) || (length !== null && length !== value))
      throw new Error('The answer has a malformed Content-Length.')
    else length = value
  }
  return { length: length === null ? null : Number(length), coding, connection }
}
