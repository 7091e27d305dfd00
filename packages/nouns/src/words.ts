/** The words of a string as full-text search compares them: without case, accents, width and ligatures. */
export function wordsOf(text: string): string[] {
  return folded(text).match(/[\p{L}\p{N}\p{Co}]+/gu) ?? []
}

/**
 * The tokens under which a text is found. A run of a script without spaces between words is cut into each character with
 * the next one, and the last one alone, so that every part of it can be found.
 */
export function indexTokens(text: string): string[] {
  return wordsOf(text).flatMap(segmentsOf).flatMap(pairsOf)
}

/** A text as the index takes it, which cuts ASCII by the same rules itself. */
export function indexedText(text: string): string {
  return ASCII.test(text) ? text : indexTokens(text).join(' ')
}

/** The tokens of one word of a search, which follow each other in a text; the last is the beginning of a token. */
export function searchTokens(word: string): string[] {
  const segments = wordsOf(word).flatMap(segmentsOf)
  const tokens = segments.flatMap(pairsOf)
  // The last character of a run is in the pair before it, too, and in a text others may follow it.
  const last = segments.at(-1)
  return last !== undefined && last !== tokens.at(-1) ? tokens.slice(0, -1) : tokens
}

const ASCII = /^[\0-\x7f]*$/
/** Marks above and below letters; the marks of voiced kana make other letters. */
const MARKS = /(?![\u3099\u309a])\p{Mn}/gu

function folded(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  const plain = text.normalize('NFKD').replace(MARKS, '')
  // Upper case makes two letters of a small sharp s, and leaves a capital one as it is.
  return plain.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFKC')
}

const SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar']
const UNSPACED_CLASS = `[${SCRIPTS.map((name) => `\\p{Script_Extensions=${name}}`).join('')}]`
const UNSPACED = new RegExp(UNSPACED_CLASS, 'u')
const SEGMENTS = new RegExp(`${UNSPACED_CLASS}+|[^${UNSPACED_CLASS.slice(1, -1)}]+`, 'gu')

/** The parts of a word, each in scripts without spaces or in others. */
function segmentsOf(word: string): string[] {
  return UNSPACED.test(word) ? (word.match(SEGMENTS) ?? []) : [word]
}

function pairsOf(segment: string): string[] {
  if (!UNSPACED.test(segment)) return [segment]
  const characters = [...segment]
  return characters.map((character, i) => character + (characters[i + 1] ?? ''))
}
