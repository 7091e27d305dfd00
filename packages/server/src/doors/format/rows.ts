import { hasLoneSurrogate, tooMuch } from '@tildebase/nouns'

/** A row of a file: a value, or why it has none. `size` is the length of its text. */
export type Row = {
  /** Zero-based among the rows. */
  readonly row: number
  /** One-based in the file, where lines mean something. */
  readonly line?: number
  readonly size: number
} & ({ readonly value: unknown } | { readonly error: string })

/** Takes rows out of text that comes bit by bit. */
export interface RowReader {
  push(text: string): Row[]
  /** What the end of the text still yields. */
  end(): Row[]
}

/** The value of a JSON text, or why there is none. */
export function jsonValue(text: string): { value: unknown } | { error: string } {
  const fault = tooMuch(text)
  // Too many levels are a fault of the row, and not of the file.
  if (fault !== null && fault !== 'levels') return { error: `has too many ${fault}` }
  try {
    const value: unknown = JSON.parse(text)
    if (hasLoneSurrogate(text, value)) return { error: 'has half of a surrogate pair, which is not text' }
    return { value }
  } catch (reason) {
    return { error: `is not valid JSON: ${(reason as Error).message.slice(0, 200)}` }
  }
}
