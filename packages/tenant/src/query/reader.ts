import type { Filter, NounLookup } from '@tildebase/nouns'
import type { Budget } from '../budget.ts'
import type { Migration } from '../engine/migrations.ts'
import type { Sql, SqlRow } from '../ports.ts'
import type { Fragment } from './plan/fragment.ts'

/** The context of a read: the database, the types, the grant and the budget. */
export interface ReadContext {
  readonly sql: Sql
  readonly nouns: NounLookup
  /** Brings the past up to the log. */
  foldPast(): void
  /** The number of an indexed field, or null when it has no rows in the index. */
  readonly fieldNumber: (type: string, name: string) => number | null
  readonly now: number
  readonly budget: Budget
  /** The rows of a type that the grant is narrowed to, or null for all of them. */
  readonly narrow?: ((type: string) => Filter | null) | undefined
  /** The types that the grant is narrowed on. */
  readonly narrowedTypes?: readonly string[]
  /** The migrations of a type, oldest first. Row filters read the past through them. */
  readonly migrations?: (type: string) => readonly Migration[]
  /** Whether there is anything that the grant may not read: then it must not be able to conclude from an order what that is. */
  readonly seesPart?: boolean
  /** Types whose events are left out of the Event collection. */
  readonly hidden?: (type: string) => boolean
  /** Totals that were counted before. Their owner forgets them when a type changes. */
  readonly totals?: KeptAnswers<number> | undefined
  /** Searches that were ranked before, likewise. */
  readonly rankings?: KeptAnswers<Ranking> | undefined
  /** Orders that were sorted before, likewise. */
  readonly orders?: KeptAnswers<KeptOrder> | undefined
  /** What `$context` shows in embedded entities. */
  readonly context: string
}

/** The places of the best matches of a search, best first, and how many matches there are. */
export interface Ranking {
  readonly best: readonly number[]
  readonly total: number
}

/** Some entities of an order that no index has, by their places in the order of creation. */
export interface KeptOrder {
  /** The cursor position that they follow; null at the beginning. */
  readonly after: string | null
  readonly numbers: readonly number[]
  /** Whether they reach to the end. */
  readonly isWhole: boolean
}

/** Answers that are kept. A key names the question; `types` are those that the answer depends on. */
export interface KeptAnswers<T> {
  get(key: string): T | undefined
  set(key: string, types: readonly string[], answer: T): void
}

/** The moment that is looked at: the present, or as of a seq. */
export interface Moment {
  readonly asOf: number | null
}

/** Runs a question within the reader's budget of time. */
export function within<T>(reader: ReadContext, work: () => T): T {
  return reader.budget.time((ms) => reader.sql.within(ms, work))
}

/** The rows of a statement, counted against the reader's budget. */
export function queryRows(reader: ReadContext, { sql, values }: Fragment): SqlRow[] {
  const rows = reader.sql.rows(sql, ...values)
  reader.budget.spendRows(rows.length)
  return rows
}
