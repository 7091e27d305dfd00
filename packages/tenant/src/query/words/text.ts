import { type Filter, Problem, searchTokens } from '@tildebase/nouns'
import { type Fragment, fragment, plain } from '../plan/fragment.ts'
import type { Scope } from '../plan/scope.ts'
import { isLogged } from '../plan/source.ts'
import type { ReadContext } from '../reader.ts'
import { indexText } from './text-index.ts'

/** Rows whose words match, as a condition on the source. */
export function textTest(
  { source, type, moment, reader }: Pick<Scope, 'source' | 'type' | 'moment' | 'reader'>,
  words: readonly string[],
): Fragment {
  if (moment.asOf !== null) {
    throw new Problem('invalid_filter', '$text searches the current state only. Omit asOf, or filter by fields.', {
      field: '$text',
    })
  }
  const query = matchQuery(words)
  if (query === null) return plain('0')
  // Events are in the text index under minus their seq, so that they never meet the place of an entity.
  return fragment`${plain(isLogged(reader, type) ? '-' : '')}${source.n} IN (SELECT rowid FROM text WHERE text MATCH ${query})`
}

/** Words as an FTS5 query: each a prefix, all of them; null when none has a letter or digit, which nothing matches. */
export function matchQuery(words: readonly string[]): string | null {
  const phrases = words.map((word) => searchTokens(word).join(' ')).filter((phrase) => phrase !== '')
  // In quotes nothing is an operator.
  return phrases.length === 0 ? null : phrases.map((phrase) => `"${phrase}"*`).join(' AND ')
}

/** Brings the text index up to the log, if a filter asks for words. Doors do this before, in slices that yield. */
export function indexTextFor({ sql, nouns, budget }: ReadContext, filter: Filter | undefined): void {
  if (!asksWords(filter)) return
  budget.time(() => {
    while (!indexText(sql, nouns)) budget.checkTime()
  })
}

/** Whether a filter asks for words. */
export function asksWords(filter: Filter | undefined): boolean {
  return filter?.op === 'text' || (filter?.op === 'and' && filter.of.some(asksWords))
}
