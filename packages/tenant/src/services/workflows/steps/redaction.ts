import { type Json, type JsonObject, Problem } from '@tildebase/nouns'
import type { Steps } from '../../../engine/turns.ts'

/** What is between texts that are searched together. */
const BETWEEN = '\0'
/** So much of a spelling is looked for; the rest is compared where that is found, so that no text takes long. */
const LOOKED_FOR = 64
/** A text with so many characters more than before repeats secrets to no purpose. */
const MOST_ADDED = 1_048_576

interface Spelling {
  readonly text: string
  /** Its secret, from 1 on. */
  readonly secret: number
}

/**
 * Takes secrets out of what another service said, in the spellings in which it may repeat them. Each step looks for one
 * spelling in all texts: they are searched as one, and only texts with a secret are written again.
 */
export class Redactor {
  readonly #names: readonly string[]
  readonly #spellings: readonly Spelling[]

  constructor(secrets: ReadonlyMap<string, string>) {
    this.#names = [...secrets.keys()]
    this.#spellings = [...secrets.values()].flatMap((value, i) =>
      spellingsOf(value).map((text) => ({ text, secret: i + 1 })),
    )
  }

  /** Texts without secrets. */
  *texts(texts: readonly string[]): Steps<readonly string[]> {
    const all = texts.join(BETWEEN)
    const marks = yield* this.#marksIn(all)
    if (marks === null) return texts
    const clean: string[] = []
    let [at, added] = [0, 0]
    for (const text of texts) {
      const kept = this.#without(all, marks, at, at + text.length)
      added += kept.length - text.length
      if (added > MOST_ADDED) throw new Problem('too_large', 'The answer repeats secrets too often to be kept.')
      clean.push(kept)
      at += text.length + BETWEEN.length
    }
    return clean
  }

  /** A value without secrets, those that are spelled as JSON inside of a text included. */
  *json(value: Json): Steps<Json> {
    const strings = [...stringsIn(value)]
    yield
    const plain = strings.map(withoutEscapes)
    yield
    const clean = yield* this.texts([...strings, ...plain])
    if (clean.every((text, i) => text === (strings[i] ?? plain[i - strings.length]))) return value
    const found = strings.map((_, i) => {
      const inside = clean[strings.length + i]!
      return inside === plain[i] ? clean[i]! : inside
    })
    return rebuilt(value, found[Symbol.iterator]())
  }

  /** For each character the secret that it belongs to, or 0; null when there is none. */
  *#marksIn(text: string): Steps<Uint8Array | null> {
    let marks: Uint8Array | null = null
    for (const { text: spelling, secret } of this.#spellings) {
      const begin = spelling.slice(0, LOOKED_FOR)
      for (let at = text.indexOf(begin); at !== -1; ) {
        let end = at + begin.length
        while (end - at < spelling.length && text[end] === spelling[end - at]) end++
        marks ??= new Uint8Array(text.length)
        for (let i = at; i < end; i++) if (marks[i] === 0) marks[i] = secret
        at = text.indexOf(begin, end)
      }
      yield
    }
    return marks
  }

  /** A part of a text with the names of secrets in their place. */
  #without(text: string, marks: Uint8Array, from: number, to: number): string {
    let kept = ''
    for (let at = from; at < to; ) {
      const secret = marks[at]!
      let end = at + 1
      while (end < to && marks[end] === secret) end++
      kept += secret === 0 ? text.slice(at, end) : `[secret ${this.#names[secret - 1]}]`
      at = end
    }
    return kept
  }
}

/** All texts in a value, names of fields included. */
function* stringsIn(value: Json): Generator<string> {
  if (typeof value === 'string') yield value
  else if (Array.isArray(value)) for (const one of value) yield* stringsIn(one as Json)
  else if (typeof value === 'object' && value !== null)
    for (const [name, one] of Object.entries(value as JsonObject)) {
      yield name
      yield* stringsIn(one)
    }
}

/** The same value with other texts, in the order of `stringsIn`. */
function rebuilt(value: Json, texts: Iterator<string>): Json {
  if (typeof value === 'string') return texts.next().value as string
  if (Array.isArray(value)) return value.map((one) => rebuilt(one as Json, texts))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.values(value as JsonObject).map((one) => [texts.next().value as string, rebuilt(one, texts)]),
  )
}

/** A text that may be JSON, with its escapes resolved. */
function withoutEscapes(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(/\\(?:u([0-9a-f]{4})|(.))/gis, (_, code, letter) =>
    code === undefined ? letter : String.fromCharCode(Number.parseInt(code, 16)),
  )
}

/** The longest come first: a shorter one may be a part of them. */
function spellingsOf(value: string): readonly string[] {
  // A header has no spaces at its ends.
  const texts = [value, value.trim()].filter((text) => text !== '')
  const all = texts.flatMap((text) => {
    const percent = encodeURIComponent(text)
    const small = percent.replace(/%../g, (byte) => byte.toLowerCase())
    const form = new URLSearchParams([['', text]]).toString().slice(1)
    const json = JSON.stringify(text).slice(1, -1)
    return [text, json, json.replaceAll('/', '\\/'), percent, small, form, ...htmlOf(text), ...base64Of(text)]
  })
  return [...new Set(all)].sort((one, other) => other.length - one.length)
}

/** In which ways HTML and XML spell the two quotes. */
const DOUBLE_QUOTES = ['"', '&quot;', '&#34;', '&#x22;']
const SINGLE_QUOTES = ["'", '&#39;', '&#039;', '&#x27;', '&apos;']

/** A text inside of a page or of XML. */
function htmlOf(text: string): readonly string[] {
  const safe = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return DOUBLE_QUOTES.flatMap((double) =>
    SINGLE_QUOTES.map((single) => safe.replaceAll('"', double).replaceAll("'", single)),
  )
}

/** Shorter parts of base64 would be found by chance. */
const SHORTEST_PART = 5

/** A text in base64, alone and inside of a longer text (such as `name:text`): the letters that follow from it alone. */
function base64Of(text: string): readonly string[] {
  const bytes = new TextEncoder().encode(text)
  const inside = [0, 1, 2].map((before) => {
    const letters = btoa(String.fromCharCode(...new Uint8Array(before), ...bytes))
    return letters.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
  })
  const plain = [btoa(String.fromCharCode(...bytes)), ...inside.filter(({ length }) => length >= SHORTEST_PART)]
  return plain.flatMap((one) => [one, one.replaceAll('+', '-').replaceAll('/', '_')])
}
