import { type Field, type Filter, type JsonObject, type NounLookup, Problem, textsOf, wordsOf } from '@tildebase/nouns'
import type { Sql } from '../ports.ts'
import { getMeta, setMeta } from '../store/meta.ts'
import { type Fragment, fragment, plain } from './fragment.ts'
import type { Reader } from './reader.ts'
import type { Scope } from './scope.ts'

const WATERMARK = 'text.seq'

/** Rows whose words match, as a condition on the source. */
export function textTest(
  { source, type, moment }: Pick<Scope, 'source' | 'type' | 'moment'>,
  words: readonly string[],
): Fragment {
  if (moment.asOf !== null) {
    throw new Problem('invalid_filter', '$text searches the present only. Leave out asOf, or filter by fields.', {
      field: '$text',
    })
  }
  const query = matchQuery(words)
  if (query === null) return plain('0')
  // Events stand in the text index under minus their seq, so that they never meet the place of an entity.
  return fragment`${plain(type === 'Event' ? '-' : '')}${source.n} IN (SELECT rowid FROM text WHERE text MATCH ${query})`
}

/** Words as an FTS5 query: each a prefix, all of them; null when none has a letter or digit, which nothing matches. */
export function matchQuery(words: readonly string[]): string | null {
  const phrases = words.filter((word) => wordsOf(word).length > 0)
  if (phrases.length === 0) return null
  // In quotes nothing is an operator; the index cuts a phrase into words by its own rules.
  return phrases.map((word) => `"${word.replace(/["\p{Cc}]/gu, ' ')}"*`).join(' AND ')
}

/** Folds up to `limit` events after the watermark into the text index; tells how many there were. */
export function foldText(sql: Sql, nouns: NounLookup, limit: number): number {
  return sql.transaction(() => {
    const since = Number(getMeta(sql, WATERMARK) ?? 0)
    const rows = sql.rows(OUTSTANDING, since, limit) as Outstanding[]
    if (rows.length === 0) return 0
    // In the order of their places: the index gathers in memory what comes in order, and writes it out where one does not.
    for (const [seq, type, , event, data] of rows.toReversed()) {
      insertWords(sql, -seq, type === 'Event' ? words(nouns, type, data ?? '{}') : `${type}.${event}`)
    }
    const reworded = rows.filter(([, type, , , , previous]) => type !== 'Event' && changesWords(nouns, type, previous))
    const entities = [...new Set(reworded.map(([, , entity]) => entity))]
    for (const [n, type] of sql.rows(PLACES, JSON.stringify(entities))) foldEntity(sql, nouns, type, n, since)
    setMeta(sql, WATERMARK, String(rows.at(-1)![0]))
    return rows.length
  })
}

/** How many events the text index does not know yet. */
export function textBacklog(sql: Sql, head: number): number {
  return head - Number(getMeta(sql, WATERMARK) ?? 0)
}

/** Folds all that is outstanding, if a filter asks for words. Call it outside of a question's time, which it may exceed. */
export function foldFor({ sql, nouns }: Pick<Reader, 'sql' | 'nouns'>, filter: Filter | undefined): void {
  if (filter && asksWords(filter)) while (foldText(sql, nouns, 1_000) === 1_000);
}

function asksWords(filter: Filter): boolean {
  return filter.op === 'text' || (filter.op === 'and' && filter.of.some(asksWords))
}

type Outstanding = [
  seq: number,
  type: string,
  entity: string,
  event: string,
  data: string | null,
  previous: string | null,
]

// Entities are read one by one, and large values before not at all: hundreds at once would fill the memory.
const OUTSTANDING = `
  SELECT seq, type, entity, event, CASE WHEN type = 'Event' THEN data END,
    CASE WHEN length(previous) < 1000 THEN previous END
  FROM log
  WHERE seq > ?
  ORDER BY seq
  LIMIT +?`

const PLACES = 'SELECT n, type FROM entities WHERE id IN (SELECT value FROM json_each(?)) ORDER BY n'

/** Whether an event with these values before it has changed what is searched; one without any has changed all. */
function changesWords(nouns: NounLookup, type: string, previous: string | null): boolean {
  if (previous === null) return true
  const fields = nouns.get(type)?.fields ?? {}
  return Object.keys(JSON.parse(previous)).some((name) =>
    isText(Object.hasOwn(fields, name) ? fields[name] : undefined),
  )
}

/** Brings an entity's words to its present state, which may be newer than the event being folded: that does no harm. */
function foldEntity(sql: Sql, nouns: NounLookup, type: string, n: number, since: number): void {
  const [[gone, data]] = sql.rows('SELECT gone, data FROM entities WHERE n = ?', n) as [[number, string]]
  // Its place is no later than its first event, so what lies beyond the watermark is not in the index yet.
  if (n <= since) sql.run('DELETE FROM text WHERE rowid = ?', n)
  if (gone === 0) insertWords(sql, n, words(nouns, type, data))
}

function insertWords(sql: Sql, rowid: number, text: string): void {
  sql.run('INSERT INTO text (rowid, words) VALUES (?, ?)', rowid, text)
}

/** The texts of an entity: string and enum fields and whatever is undeclared; never ids, dates or secrets. */
function words(nouns: NounLookup, type: string, data: string): string {
  const fields = nouns.get(type)?.fields ?? {}
  return Object.entries(JSON.parse(data) as JsonObject)
    .filter(([name]) => isText(Object.hasOwn(fields, name) ? fields[name] : undefined))
    .flatMap(([, value]) => textsOf(value))
    .join('\n')
}

/** Whether the words of a field are searched; one that is not declared is. */
export function isText(field: Field | undefined): boolean {
  return field === undefined || field.kind === 'string' || field.kind === 'enum' || field.kind === 'json'
}
