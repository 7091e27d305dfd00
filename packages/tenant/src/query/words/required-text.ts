/** What is known of every text that a part of a pattern matches. */
interface Known {
  /** The text itself, when the part matches only that one. */
  readonly exact: string | null
  readonly start: string
  readonly end: string
  /** The longest text that is known to be in it. */
  readonly longest: string
}

/**
 * A text that is in everything that a pattern matches, or null: `(a+)+b$` matches nothing without `ab`. A pattern with flags
 * inside, or with an escape that is not known here, has none.
 */
export function requiredText(pattern: string): string | null {
  const parts = new Parts(pattern)
  const known = parts.alternatives()
  if (known === null || !parts.isAtEnd) return null
  return known.longest.length > 1 ? known.longest : null
}

/** Nothing is known. */
const UNKNOWN: Known = { exact: null, start: '', end: '', longest: '' }
/** Characters that mean themselves, and that JSON text has without escapes. */
const PLAIN = /[\w @:,;/-]/
const ZERO_WIDTH = /[bBAz]/
const CLASS_ESCAPE = /[dDsSwW]/
const PUNCTUATION = /[^\w\s]/
/** One repetition may be as long as this: the text of `(abc){1000}` is not built. */
const MOST_REPEATED = 8

/** Reads a pattern from left to right. A method returns null for what it does not know. */
class Parts {
  readonly #pattern: string
  #at = 0

  constructor(pattern: string) {
    this.#pattern = pattern
  }

  get isAtEnd(): boolean {
    return this.#at === this.#pattern.length
  }

  alternatives(): Known | null {
    let known = this.#sequence()
    while (known !== null && this.#take('|')) known = this.#sequence() && UNKNOWN
    return known
  }

  #sequence(): Known | null {
    let known: Known = exactly('')
    while (!this.isAtEnd && !this.#isNext('|') && !this.#isNext(')')) {
      const one = this.#atom()
      const repeated = one && this.#repeated(one)
      if (repeated === null) return null
      known = joined(known, repeated)
    }
    return known
  }

  #atom(): Known | null {
    const character = this.#pattern[this.#at++]!
    if (character === '(') return this.#group()
    if (character === '[') return this.#match(CLASS_REST) && UNKNOWN
    if (character === '\\') return this.#escape()
    if (character === '^' || character === '$') return exactly('')
    if (/[+*?]/.test(character)) return null
    return PLAIN.test(character) ? exactly(character) : UNKNOWN
  }

  #group(): Known | null {
    if (this.#isNext('?') && !this.#match(GROUP_START)) return null
    const known = this.alternatives()
    return this.#take(')') ? known : null
  }

  #escape(): Known | null {
    const character = this.#pattern[this.#at++] ?? ''
    if (ZERO_WIDTH.test(character)) return exactly('')
    if (CLASS_ESCAPE.test(character)) return UNKNOWN
    if (!PUNCTUATION.test(character)) return null
    return PLAIN.test(character) ? exactly(character) : UNKNOWN
  }

  /** What is known when the number of repetitions that follows is considered; null when two follow each other. */
  #repeated(one: Known): Known | null {
    const found = this.#match(REPETITION)
    if (!found) return one
    if (this.#match(REPETITION)) return null
    const [, sign, count, range, last] = found
    const least = count === undefined ? (sign === '+' ? 1 : 0) : Number(count)
    const most = count === undefined ? null : range === undefined ? least : last === '' ? null : Number(last)
    if (least === 0) return UNKNOWN
    const isCertain = one.exact !== null && least === most && least <= MOST_REPEATED
    return isCertain ? exactly(one.exact.repeat(least)) : { ...one, exact: null }
  }

  #isNext(text: string): boolean {
    return this.#pattern.startsWith(text, this.#at)
  }

  #take(text: string): boolean {
    if (!this.#isNext(text)) return false
    this.#at += text.length
    return true
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#pattern)
    if (found) this.#at = pattern.lastIndex
    return found
  }
}

/** A class after its bracket. A bracket that closes it is a member when it comes first. */
const CLASS_REST = /\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]/y
/** A group without flags, after its parenthesis. */
const GROUP_START = /\?(?::|P?<\w+>)/y
const REPETITION = /(?:([+*?])|\{(\d+)(,(\d*))?\})\??/y

function exactly(text: string): Known {
  return { exact: text, start: text, end: text, longest: text }
}

function joined(a: Known, b: Known): Known {
  return {
    exact: a.exact === null || b.exact === null ? null : a.exact + b.exact,
    start: a.exact === null ? a.start : a.exact + b.start,
    end: b.exact === null ? b.end : a.end + b.exact,
    longest: [a.longest, b.longest, a.end + b.start].reduce((best, one) => (one.length > best.length ? one : best)),
  }
}
