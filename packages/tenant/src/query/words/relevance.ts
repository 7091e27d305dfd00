import { indexTokens, searchTokens } from '@tildebase/nouns'

/** The constants of BM25: how soon more of the same word count for less, and how much the length of a text counts. */
const K1 = 1.2
const B = 0.75

/**
 * How relevant texts are for words that each of them contains: BM25 in which all words have the same weight, since all these
 * texts have them all. It depends on nothing but these texts.
 */
export function relevanceOf(words: readonly string[], texts: readonly string[]): number[] {
  const phrases = words.map((word) => searchTokens(word).join(' ')).filter((phrase) => phrase !== '')
  const tokens = texts.map(indexTokens)
  const mean = tokens.reduce((sum, { length }) => sum + length, 0) / Math.max(1, tokens.length)
  return tokens.map((list) => {
    const text = ` ${list.join(' ')}`
    const norm = K1 * (1 - B + (B * list.length) / mean)
    return phrases.reduce((sum, phrase) => {
      const count = occurrences(text, ` ${phrase}`)
      return sum + (count * (K1 + 1)) / (count + norm)
    }, 0)
  })
}

function occurrences(text: string, part: string): number {
  let count = 0
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) count++
  return count
}
