import type { Filter, NounLookup } from '@tildebase/nouns'
import type { Sql } from '../ports.ts'

/** What reading needs to know: the database, the types, who looks and for how long. */
export interface ReadContext {
  readonly sql: Sql
  readonly nouns: NounLookup
  /** The number of an indexed field in `facts`, or null when it has no rows there. */
  readonly fieldNumber: (type: string, name: string) => number | null
  readonly now: number
  /** How long one question may take, in milliseconds. */
  readonly budgetMs: number
  /** The rows of a type that are shown, beyond what is asked for; null is all of them. */
  readonly narrow?: (type: string) => Filter | null
  /** Types whose events are left out of the Event collection. */
  readonly hidden?: (type: string) => boolean
  /** Totals that were counted before; whoever gives this forgets them when a type changes. */
  readonly totals?: Totals
  /** What `$context` shows in embedded entities. */
  readonly context: string
}

/** A memory of totals. A key names the question; `types` are those that the answer depends on. */
export interface Totals {
  get(key: string, types: readonly string[]): number | undefined
  set(key: string, types: readonly string[], total: number): void
}

/** The moment that is looked at: the present, or as of a seq. */
export interface Moment {
  readonly asOf: number | null
}

/** Runs a question within the reader's budget. */
export function within<T>(reader: ReadContext, work: () => T): T {
  return reader.sql.within(reader.budgetMs, work)
}
