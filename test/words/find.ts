import { readProse } from './prose.ts'
import { RULES } from './word-list.ts'

/** A phrase of the list that was found in a file. */
export type Finding = { readonly line: number; readonly phrase: string; readonly instead: string }

/** The phrases of the list in the prose of a file. */
export function findPhrases(path: string, text: string): readonly Finding[] {
  return readProse(path, text).flatMap(({ line, text: prose }) =>
    RULES.flatMap(({ pattern, instead }) => {
      const phrase = pattern.exec(prose)
      if (phrase === null) return []
      const lines = prose.slice(0, phrase.index).split('\n').length - 1
      return [{ line: line + lines, phrase: phrase[0], instead }]
    }),
  )
}
