import { Problem } from '../problem.ts'

/** Turns bytes that come bit by bit into text. */
export interface Decoder {
  decode(bytes: Uint8Array): string
  /** What the end of the bytes still yields. */
  end(): string
  /** The encoding that was found, once bytes have come. */
  readonly encoding: string
}

/** JSON is UTF-8, and nothing else. */
export function utf8Decoder(): Decoder {
  return named('utf-8')
}

/** Of the encoding that is named, or else of the one that the bytes show. */
export function anyDecoder(label: string | undefined): Decoder {
  return label === undefined ? new Detecting() : named(label)
}

/** The encoding that a Content-Type names: `text/csv; charset=iso-8859-1`. */
export function charsetOf(contentType: string | undefined): string | undefined {
  return /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType ?? '')?.[1]
}

function named(label: string): Decoder {
  const decoder = decoderOf(label)
  return {
    encoding: decoder.encoding,
    decode: (bytes) => read(decoder, bytes),
    end: () => read(decoder),
  }
}

/** UTF-16 by its mark; UTF-8; or Windows-1252, which ISO-8859-1 is a part of, where a byte is not UTF-8. */
class Detecting implements Decoder {
  #decoder: Decoder | null = null
  #isBegun = false
  /** Whether there were letters beyond ASCII, all of them UTF-8. */
  #isUtf8 = false
  /** The beginning of a character whose end has not come yet. */
  #rest = NOTHING

  get encoding(): string {
    return this.#decoder?.encoding ?? 'utf-8'
  }

  decode(bytes: Uint8Array): string {
    if (this.#decoder !== null) return this.#decoder.decode(bytes)
    const all = joined(this.#rest, bytes)
    // A mark has two bytes, and the first may come alone.
    const marked = this.#isBegun ? undefined : MARKS[`${all[0]},${all[1]}`]
    if (marked !== undefined) return this.#goOn(marked, all)
    const end = this.#isBegun || all.length > 1 ? wholeLength(all) : 0
    this.#rest = all.slice(end)
    return end === 0 ? '' : this.#text(all.subarray(0, end))
  }

  end(): string {
    if (this.#decoder !== null) return this.#decoder.end()
    const rest = this.#rest
    this.#rest = NOTHING
    return this.#text(rest)
  }

  #text(bytes: Uint8Array): string {
    const text = UTF8.decode(bytes)
    if (!text.includes('\ufffd') || !isBroken(bytes)) {
      const isMarked = !this.#isBegun && text.startsWith('\ufeff')
      this.#isBegun = true
      this.#isUtf8 ||= isMarked || BEYOND_ASCII.test(text)
      return isMarked ? text.slice(1) : text
    }
    if (this.#isUtf8 || /[^\0-\x7f\ufffd]/.test(text))
      throw new Problem(
        'invalid_body',
        'The body is not UTF-8 text. Name its encoding in the charset of the Content-Type.',
      )
    const rest = this.#rest
    this.#rest = NOTHING
    return this.#goOn('windows-1252', joined(bytes, rest))
  }

  #goOn(label: string, bytes: Uint8Array): string {
    this.#decoder = named(label)
    return this.#decoder.decode(bytes)
  }
}

const NOTHING = new Uint8Array()
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true })
const BEYOND_ASCII = /[^\0-\x7f]/
const MARKS: { readonly [bytes: string]: string } = { '255,254': 'utf-16le', '254,255': 'utf-16be' }

/** A string may hold the sign for what is broken; bytes that are broken are another matter. */
function isBroken(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return false
  } catch {
    return true
  }
}

/** How many bytes there are up to a character that may continue. */
function wholeLength(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if (byte < 0x80) break
    if (byte < 0xc0) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    return length > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

function decoderOf(label: string): TextDecoder {
  try {
    return new TextDecoder(label, { fatal: true })
  } catch {
    throw new Problem(
      'unsupported_media_type',
      `The charset ${label.slice(0, 40)} is unknown. Use one such as utf-8 or windows-1252.`,
      {
        field: 'Content-Type',
      },
    )
  }
}

function read(decoder: TextDecoder, bytes?: Uint8Array): string {
  try {
    return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode()
  } catch {
    throw new Problem('invalid_body', `The body is not ${decoder.encoding.toUpperCase()} text.`)
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b
  const bytes = new Uint8Array(a.length + b.length)
  bytes.set(a)
  bytes.set(b, a.length)
  return bytes
}
