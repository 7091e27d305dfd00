import { type Filter, matchWords, Problem, searchTokens } from '@tildebase/nouns'
import type { Steps } from '../../engine/turns.ts'
import type { Sql } from '../../ports.ts'
import { loggedTypes } from '../../store/log/stream.ts'
import { nameNumber } from '../../store/names.ts'
import { type Fragment, fragment, listOf, plain } from '../plan/fragment.ts'
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
  const found = fragment`(SELECT rowid FROM text WHERE text MATCH ${query})`
  if (!isLogged(reader, type)) return fragment`${source.n} IN ${found}`
  // Tracked events are in the text index under minus their seq, so that they never meet the place of an entity.
  const named = namedEvents(reader.sql, source.alias, words)
  return named ? fragment`(-${source.n} IN ${found} OR ${named})` : fragment`-${source.n} IN ${found}`
}

/** The places and scores of the rows of a type whose words match. */
export function matches({ source, type, reader }: Scope, words: readonly string[], query: string | null): Fragment {
  const isEvents = isLogged(reader, type)
  const found = fragment`SELECT ${plain(isEvents ? '-rowid' : 'rowid')} AS n, rank AS score FROM text WHERE text MATCH ${query}`
  const named = isEvents ? namedEvents(reader.sql, source.alias, words) : null
  if (!named) return found
  // Events that only their name matches come last. Older files have them in the index, too.
  const log = plain(`log ${source.alias}`)
  return fragment`SELECT n, min(score) AS score
    FROM (${found} UNION ALL SELECT ${source.n}, 0 FROM ${log} WHERE ${named})
    GROUP BY n`
}

/** The bits of a number that hold the number of an event's name, below that of its type. */
const EVENT_BITS = 32

/**
 * The events of verbs whose name, `Contact.created`, has these words; null if no name does. The names are few and repeat in
 * every row of the log, so they are looked up here and not in the text index.
 */
function namedEvents(sql: Sql, alias: string, words: readonly string[]): Fragment | null {
  // Ids of actors are among the names, too; they have an underscore.
  const events = sql.rows(`SELECT n, name FROM names WHERE instr(name, '_') = 0`) as [number, string][]
  const last = words.map((word) => searchTokens(word).at(-1)).filter((token) => token !== undefined)
  const candidates = events.filter(([, name]) => last.some((token) => matchWords([token], { name })))
  const types: number[] = []
  const whole: number[] = []
  const pairs: number[] = []
  for (const type of loggedTypes(sql)) {
    if (type === 'Event') continue
    const number = nameNumber(sql, type)
    const isWhole = matchWords(words, { name: type })
    const own = candidates.filter(([, event]) => !isWhole && matchWords(words, { name: `${type}.${event}` }))
    if (isWhole) whole.push(number)
    for (const [event] of own) pairs.push(number * 2 ** EVENT_BITS + event)
    if (isWhole || own.length > 0) types.push(number)
  }
  if (types.length === 0) return null
  const [type, event] = [plain(`${alias}.type`), plain(`${alias}.event`)]
  const pair = fragment`(${type} << ${EVENT_BITS}) + ${event} IN ${listOf(pairs)}`
  return fragment`(${type} IN ${listOf(types)} AND (${type} IN ${listOf(whole)} OR ${pair}))`
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

/** The same in slices that yield. */
export function* indexTextInSteps({ sql, nouns, budget }: ReadContext): Steps<void> {
  while (!budget.time(() => indexText(sql, nouns))) yield
}

/** Whether a filter asks for words. */
export function asksWords(filter: Filter | undefined): boolean {
  return filter?.op === 'text' || (filter?.op === 'and' && filter.of.some(asksWords))
}
