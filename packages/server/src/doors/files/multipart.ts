import { Problem } from '@tildebase/nouns'

/** One part of a form. Its body must be read before the next part comes. */
export interface FormPart {
  readonly name: string
  readonly filename: string | null
  /** The Content-Type of the part; null when it has none. */
  readonly type: string | null
  readonly body: AsyncIterable<Uint8Array>
}

const LONGEST_HEAD = 16_384
const MOST_PARTS = 1_000
const CRLF = 13

/** The boundary of a multipart/form-data body, or null for another content type. */
export function boundaryOf(contentType: string | undefined): string | null {
  if (!isMultipart(contentType)) return null
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType!) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) throw broken('Its Content-Type names no boundary.')
  return boundary
}

export function isMultipart(contentType: string | undefined): boolean {
  return /^\s*multipart\/form-data\s*(?:;|$)/i.test(contentType ?? '')
}

/** The parts of a form, one after the other. Memory does not grow with them. */
export async function* formParts(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  boundary: string,
): AsyncGenerator<FormPart> {
  const form = new FormReader(source, boundary)
  if (!(await form.begin())) return
  for (let count = 1; ; count++) {
    if (count > MOST_PARTS) throw broken(`It has more than ${MOST_PARTS} parts.`)
    const head = await form.head()
    const body = form.body()
    yield { ...head, body }
    // The rest of a part that was not read.
    for await (const _ of body);
    if (await form.isOver()) return
  }
}

type Head = Omit<FormPart, 'body'>

/** Reads a form from chunks, and holds back no more than a chunk and a boundary. */
class FormReader {
  readonly #chunks: AsyncIterator<Uint8Array> | Iterator<Uint8Array>
  /** What ends a part. */
  readonly #mark: Uint8Array
  #held: Uint8Array = new Uint8Array(0)
  #isEnded = false

  constructor(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, boundary: string) {
    this.#chunks = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
    this.#mark = new TextEncoder().encode(`\r\n--${boundary}`)
  }

  /** Goes behind the first boundary. False for a form without parts. */
  async begin(): Promise<boolean> {
    // The first boundary may be at the very beginning.
    this.#held = new Uint8Array([13, 10])
    for (let at = indexOf(this.#held, this.#mark); ; at = indexOf(this.#held, this.#mark)) {
      if (at !== -1) {
        this.#held = this.#held.subarray(at + this.#mark.length)
        return !(await this.isOver())
      }
      if (this.#held.length > LONGEST_HEAD) throw broken('It does not begin with its boundary.')
      if (!(await this.#more())) throw broken('It has no boundary.')
    }
  }

  /** Whether the boundary that was just read is the last one. */
  async isOver(): Promise<boolean> {
    for (;;) {
      const end = indexOf(this.#held, NEW_LINE)
      if (this.#held.length >= 2 && this.#held[0] === DASH && this.#held[1] === DASH) return true
      if (end !== -1) {
        this.#held = this.#held.subarray(end + NEW_LINE.length)
        return false
      }
      if (this.#held.length > LONGEST_HEAD || !(await this.#more())) throw broken('It ends early.')
    }
  }

  async head(): Promise<Head> {
    for (;;) {
      // A part without headers begins with the empty line at once.
      const end = this.#held[0] === CRLF && this.#held[1] === 10 ? 0 : indexOf(this.#held, END_OF_HEAD)
      if (end !== -1) {
        const text = headText(this.#held.subarray(0, end))
        this.#held = this.#held.subarray(end + (end === 0 ? NEW_LINE.length : END_OF_HEAD.length))
        return headOf(text)
      }
      if (this.#held.length > LONGEST_HEAD) throw broken(`The headers of a part have more than ${LONGEST_HEAD} bytes.`)
      if (!(await this.#more())) throw broken('It ends early.')
    }
  }

  async *body(): AsyncGenerator<Uint8Array> {
    let isDone = false
    // The empty line before a body without bytes belongs to the boundary as well.
    this.#held = joined(NEW_LINE, this.#held)
    let skipped = NEW_LINE.length
    while (!isDone) {
      const at = indexOf(this.#held, this.#mark)
      isDone = at !== -1
      const end = isDone ? at : Math.max(0, this.#held.length - this.#mark.length)
      const piece = this.#held.subarray(Math.min(skipped, end), end)
      skipped = Math.max(0, skipped - end)
      this.#held = this.#held.subarray(isDone ? at + this.#mark.length : end)
      if (piece.length > 0) yield piece
      if (!isDone && !(await this.#more())) throw broken('It ends in the middle of a part.')
    }
  }

  async #more(): Promise<boolean> {
    if (this.#isEnded) return false
    const next = await this.#chunks.next()
    if (next.done) {
      this.#isEnded = true
      return false
    }
    this.#held = this.#held.length === 0 ? next.value : joined(this.#held, next.value)
    return true
  }
}

const DASH = 45
const NEW_LINE = new Uint8Array([13, 10])
const END_OF_HEAD = new Uint8Array([13, 10, 13, 10])

function headText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw broken('The headers of a part are not UTF-8 text.')
  }
}

function headOf(text: string): Head {
  const headers = new Map(
    text.split('\r\n').map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, Math.max(colon, 0)).trim().toLowerCase(), line.slice(colon + 1).trim()] as const
    }),
  )
  const disposition = headers.get('content-disposition') ?? ''
  const name = parameter(disposition, 'name')
  if (!/^form-data\b/i.test(disposition) || name === null) throw broken('A part has no name.')
  return { name, filename: parameter(disposition, 'filename'), type: headers.get('content-type') ?? null }
}

/** A parameter of a Content-Disposition: `filename*` with an encoding, or the plain form that browsers write. */
export function parameter(header: string, name: string): string | null {
  const [, encoded] = new RegExp(`;\\s*${name}\\*\\s*=\\s*utf-8'[^']*'([^;\\s]+)`, 'i').exec(header) ?? []
  if (encoded !== undefined) {
    try {
      return decodeURIComponent(encoded)
    } catch {
      // The plain form counts.
    }
  }
  const [, quoted, plain] =
    new RegExp(`;\\s*${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]+))`, 'i').exec(header) ?? []
  // Browsers escape quotes and line ends with percent signs; others with backslashes.
  if (quoted !== undefined)
    return quoted
      .replace(/\\(["\\])/g, '$1')
      .replace(/%(0D|0A|22)/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return plain ?? null
}

function indexOf(bytes: Uint8Array, mark: Uint8Array): number {
  const [first] = mark
  for (let at = bytes.indexOf(first!); at !== -1; at = bytes.indexOf(first!, at + 1)) {
    let i = 1
    while (i < mark.length && bytes[at + i] === mark[i]) i++
    if (i === mark.length) return at
    if (at + mark.length > bytes.length) return -1
  }
  return -1
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}

function broken(message: string): Problem {
  return new Problem('invalid_body', `The form cannot be read. ${message}`)
}
