import { MAX_DEPTH } from './json.ts'

/**
 * Values of one JSON text: nothing can interrupt what parses them, for some 50 milliseconds. An object, a list and a member
 * of an object take as long as four others.
 */
export const MOST_VALUES = 1_500_000
const PART = 4

/** Different names of members in one JSON text: a new one takes as long as fifty values. */
export const MOST_NAMES = 20_000

/** Why a JSON text is not to be parsed: it has too many values or names, or is nested too deeply. Null if it may be. */
export function tooMuch(text: string): 'values' | 'names' | 'levels' | null {
  let depth = 0
  let isDeep = false
  let values = 0
  // Where the last string begins and ends: before a colon it is a name.
  let start = 0
  let end = 0
  const names = text.length > FEW ? new Names() : null
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === COMMA) {
      if (++values > MOST_VALUES) return 'values'
    } else if (code === QUOTE) {
      start = i + 1
      end = endOfString(text, i)
      if (end === -1) break
      i = end
    } else if (code === COLON) {
      values += PART - 1
      names?.add(text, start, end)
    } else if (code === BRACE || code === BRACKET) {
      values += PART
      depth++
      isDeep ||= depth > MAX_DEPTH
    } else if (code === BRACE + 2 || code === BRACKET + 2) depth--
  }
  if (names !== null && names.count > MOST_NAMES) return 'names'
  if (values > MOST_VALUES) return 'values'
  return isDeep ? 'levels' : null
}

/** A text of this length cannot have too many names. */
const FEW = MOST_NAMES * 4
const BITS = 20

/** Counts different names by a hash of each. */
class Names {
  readonly #seen = new Uint8Array(1 << (BITS - 3))
  count = 0

  add(text: string, start: number, end: number): void {
    let hash = 0x811c9dc5
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
    const bit = (hash ^ (hash >>> BITS)) & ((1 << BITS) - 1)
    const mask = 1 << (bit & 7)
    if ((this.#seen[bit >> 3]! & mask) !== 0) return
    this.#seen[bit >> 3]! |= mask
    this.count++
  }
}

const [QUOTE, COMMA, COLON, BRACKET, BRACE] = [34, 44, 58, 91, 123]

/** Where the string that begins at a quote ends; -1 when it does not. Searching is faster than looking at each letter. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === 92) slashes++
    if (slashes % 2 === 0) return end
  }
  return -1
}
