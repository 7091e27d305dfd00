import { type Field, indexedText, type JsonObject, type NounLookup, SOURCE, textsOf } from '@tildebase/nouns'
import type { Sql, SqlRow } from '../../ports.ts'
import { presentAt } from '../../store/entities.ts'
import { getMeta, setMeta, TEXT_SEQ } from '../../store/meta.ts'
import { fixedNumber, nameOf } from '../../store/names.ts'

/** How much one slice reads at most: this takes some 20 ms. */
const SLICE_EVENTS = 500
const SLICE_LENGTH = 262_144
/** How much of the texts of one entity is searched: what is longer would hold up its neighbours. */
const LONGEST_TEXT = 262_144

/**
 * Brings the text index towards the log by one slice, bounded in events and in bytes, and commits that. Returns whether
 * the index knows all events now.
 */
export function indexText(
  sql: Sql,
  nouns: NounLookup,
  most = SLICE_EVENTS,
  replacing: (rows: number) => void = () => {},
): boolean {
  // Without a commit: a long write begins when nothing is left to sync, and asks for this before.
  if (sql.rows(IS_BEHIND, Number(getMeta(sql, TEXT_SEQ) ?? 0)).length === 0) return true
  return sql.transaction(() => {
    const known = getMeta(sql, TEXT_SEQ)
    const since = Number(known ?? 0)
    const all = sql.rows(OUTSTANDING, since, most).map((row) => toOutstanding(sql, row))
    const rows = all.slice(0, lengthOfSlice(all))
    if (rows.length === 0) return true
    // It may have been made by older rules.
    if (known === null) sql.run(`INSERT INTO text (text) VALUES ('delete-all')`)
    // In ascending order of rowid: FTS5 collects such rows in memory, and writes a segment where the order breaks.
    // The names of other events are looked up without the index: `namedEvents`.
    for (const { seq, type, data } of rows.toReversed())
      if (type === 'Event') insertWords(sql, -seq, searchedText(nouns, type, data ?? '{}'))
    let replaced = 0
    for (const { n, type, data } of reworded(nouns, rows)) {
      // Its place is no later than its first event, so what lies beyond the watermark is not in the index yet.
      if (n <= since) {
        sql.run('DELETE FROM text WHERE rowid = ?', n)
        replaced++
      }
      const present = data ?? presentData(sql, n)
      if (present !== null) insertWords(sql, n, searchedText(nouns, type, present))
    }
    replacing(replaced)
    setMeta(sql, TEXT_SEQ, String(rows.at(-1)!.seq))
    return all.length < most && rows.length === all.length
  }, 'joined')
}

/** So many parts of the index of about one size are merged to one. */
export const MERGED_PARTS = 4
/** Pages that one step of merging writes, but for the places of a word that is in most rows: those are one step. */
const MERGED_PAGES = 32
/** Parts at which FTS5 merges them in the commit of that time: more than steps of merging ever leave. */
const MOST_PARTS = 64

/** Has FTS5 merge parts of the index in the steps of `mergeText` only. Its default is to do so in the commits of changes. */
export function setMerging(sql: Sql): void {
  const [row] = sql.rows(`SELECT v FROM text_config WHERE k = 'crisismerge'`)
  if (row?.[0] === MOST_PARTS) return
  const settings = { automerge: 0, deletemerge: 0, usermerge: MERGED_PARTS, crisismerge: MOST_PARTS }
  sql.transaction(() => {
    for (const [name, value] of Object.entries(settings))
      sql.run(`INSERT INTO text (text, rank) VALUES ('${name}', ${value})`)
  }, 'joined')
}

/** Merges parts of the index a bit. Returns whether all is merged. */
export function mergeText(sql: Sql): boolean {
  return sql.transaction(() => {
    const before = partsOfIndex(sql)
    sql.run(`INSERT INTO text (text, rank) VALUES ('merge', ${MERGED_PAGES})`)
    return partsOfIndex(sql) === before
  }, 'joined')
}

/** Begins to merge all parts to one, so that questions do not pass rows that were replaced. `mergeText` continues. */
export function beginMergeOfAll(sql: Sql): void {
  sql.run(`INSERT INTO text (text, rank) VALUES ('merge', -1)`)
}

/** What FTS5 notes about the parts of its index, which every merge changes. */
function partsOfIndex(sql: Sql): string {
  return sql.rows('SELECT hex(block) FROM text_data WHERE id = 10')[0]?.[0] ?? ''
}

/** How many of these events make a slice: one at least, and no more than its bytes allow. */
function lengthOfSlice(rows: readonly Outstanding[]): number {
  let length = 0
  for (let i = 0; i < rows.length; i++) {
    length += rows[i]!.length
    if (length > SLICE_LENGTH) return Math.max(i, 1)
  }
  return rows.length
}

/** How many events the text index does not know yet. */
export function textBacklog(sql: Sql, head: number): number {
  return head - Number(getMeta(sql, TEXT_SEQ) ?? 0)
}

/** Whether the events that the text index does not know yet take more than one slice; it looks at `most` of them. */
export function isLongBacklog(sql: Sql, most: number): boolean {
  const [row] = sql.rows(BACKLOG_LENGTH, Number(getMeta(sql, TEXT_SEQ) ?? 0), most)
  return row![0] > SLICE_LENGTH
}

const IS_BEHIND = 'SELECT 1 FROM log WHERE seq > ? LIMIT 1'

// The length in bytes is known without reading the text.
const BACKLOG_LENGTH = `
  SELECT coalesce(sum(length), 0)
  FROM (
    SELECT octet_length(data) AS length
    FROM log
    WHERE seq > ?
    ORDER BY seq
    LIMIT +?)`

interface Outstanding {
  readonly seq: number
  readonly type: string
  /** The place of its entity: the seq of the first event. Null for a tracked Event. */
  readonly n: number | null
  readonly data: string | null
  readonly previous: string | null
  /** How long the state after it is. */
  readonly length: number
}

// What is large is read one by one, and values before it not at all: hundreds at once would fill the memory. The length
// in bytes is known without reading the text; the length in letters is not.
const OUTSTANDING = `
  SELECT seq, type, n,
    CASE WHEN n IS NULL OR (n = seq AND octet_length(data) < 1000) THEN data END,
    CASE WHEN verb <> ${fixedNumber('restore')} AND octet_length(previous) < 1000 THEN previous END,
    coalesce(octet_length(data), 0)
  FROM log
  WHERE seq > ?
  ORDER BY seq
  LIMIT +?`

function toOutstanding(sql: Sql, [seq, type, n, data, previous, length]: SqlRow): Outstanding {
  return { seq, type: nameOf(sql, type), n, data, previous, length }
}

/**
 * Entities whose words the events may have changed, in the order of their places; with their data if it is available.
 */
function reworded(
  nouns: NounLookup,
  rows: readonly Outstanding[],
): readonly { readonly n: number; readonly type: string; readonly data: string | null }[] {
  const entities = new Map<number, { n: number; type: string; data: string | null }>()
  for (const { seq, n, type, data, previous } of rows) {
    if (n === null || !changesWords(nouns, type, previous)) continue
    // A new one has the data of its event, unless another event follows.
    entities.set(n, { n, type, data: n === seq && !entities.has(n) ? data : null })
  }
  return [...entities.values()].sort((a, b) => a.n - b.n)
}

/** Whether an event with these values before it has changed what is searched; one without any has changed all. */
function changesWords(nouns: NounLookup, type: string, previous: string | null): boolean {
  if (previous === null) return true
  const fields = nouns.get(type)?.fields ?? {}
  return Object.keys(JSON.parse(previous)).some((name) =>
    isText(Object.hasOwn(fields, name) ? fields[name] : undefined),
  )
}

/** An entity's present state, which may be newer than the event being folded: that does no harm. */
function presentData(sql: Sql, n: number): string | null {
  return presentAt(sql, n)?.data ?? null
}

function insertWords(sql: Sql, rowid: number, text: string): void {
  sql.run('INSERT INTO text (rowid, words) VALUES (?, ?)', rowid, indexedText(text))
}

/** The texts of an entity that are searched: string and enum fields and whatever is undeclared; never ids, dates or secrets. */
export function searchedText(nouns: NounLookup, type: string, data: string): string {
  const fields = nouns.get(type)?.fields ?? {}
  const state = JSON.parse(data) as JsonObject
  const texts: string[] = []
  for (const name of Object.keys(state)) {
    if (name === SOURCE.name || !isText(Object.hasOwn(fields, name) ? fields[name] : undefined)) continue
    const value = state[name]!
    if (typeof value === 'string') texts.push(value)
    else for (const text of textsOf(value)) texts.push(text)
  }
  return texts.join('\n').slice(0, LONGEST_TEXT)
}

/** Whether the words of a field are searched; one that is not declared is. */
export function isText(field: Field | undefined): boolean {
  return field === undefined || field.kind === 'string' || field.kind === 'enum' || field.kind === 'json'
}
