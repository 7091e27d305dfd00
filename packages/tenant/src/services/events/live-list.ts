import { allOf, type Noun, Problem, touches } from '@tildebase/nouns'
import type { Budget } from '../../budget.ts'
import type { Engine } from '../../engine/engine.ts'
import { briefOrInTurns } from '../../engine/turns.ts'
import { demand, type Grant } from '../../grant/grant.ts'
import { findRows, type Page, type Query, withId } from '../../query/answer/find.ts'
import { findInSlices } from '../../query/answer/find-in-slices.ts'
import { readContextOf } from '../../query/read-context.ts'
import type { ReadContext } from '../../query/reader.ts'
import { asksWords } from '../../query/words/text.ts'
import type { Stored } from '../../store/entities.ts'
import { type LogRow, readLog } from '../../store/log/log.ts'
import type { Feed } from './feed.ts'
import { frame } from './frame.ts'
import { Tail } from './tail.ts'

const PAGE = 100
/** A filter through relations is followed by comparing what passes it before and after. */
const MOST_COMPARED = 10_000

/** What a live list shows, and how. */
export interface LiveListOptions {
  readonly noun: Noun
  readonly query: Query
  /** What tells this list from others that show the same entities differently. */
  readonly about: string
  /** What `$context` shows. */
  readonly context: string
  /** The last seq that the reader has seen, or null to begin with a page. */
  readonly lastSeen: number | null
  readonly text: (entity: Stored) => string
  readonly pageText: (page: Page) => string
  /** A budget for each piece. */
  readonly budget: () => Budget
}

/** A list that stays current: its page now, then what enters it, changes in it and leaves it. */
export class LiveList {
  readonly #engine: Engine
  readonly #feed: Feed
  readonly #options: LiveListOptions
  readonly #touched: ReadonlySet<string>
  #tail: Tail | null

  constructor(engine: Engine, feed: Feed, options: LiveListOptions) {
    const { query, lastSeen } = options
    if (query.asOf !== null && query.asOf !== undefined) {
      throw new Problem('invalid_as_of', 'A live list shows the current state: omit asOf.', { field: 'asOf' })
    }
    if (asksWords(query.filter)) {
      throw new Problem('invalid_filter', 'Live lists do not support $text. Use other conditions.', { field: '$text' })
    }
    this.#engine = engine
    this.#feed = feed
    this.#options = options
    this.#touched = touches(query.filter!)
    this.#tail = lastSeen === null ? null : this.#tailFrom(lastSeen)
  }

  read(grant: Grant): string | Uint8Array | Promise<string> {
    demand(grant, 'read', this.#options.noun)
    return this.#tail === null ? this.#page(grant) : this.#tail.read(grant)
  }

  #tailFrom(position: number): Tail {
    const { noun, query, about } = this.#options
    const name = JSON.stringify([noun.name, query, about])
    return new Tail(this.#engine, this.#feed, name, position, (after, grant) => {
      const reader = this.#reader(grant)
      const rows = this.#feed.recent(after)?.slice(0, PAGE) ?? readLog(this.#engine.sql, after, PAGE)
      return { text: rows.map((row) => this.#meaning(reader, row)).join(''), position: rows.at(-1)!.seq }
    })
  }

  #page(grant: Grant): string | Promise<string> {
    const { seq } = this.#engine.head
    const { query, pageText } = this.#options
    const reader = this.#reader(grant)
    this.#tail = this.#tailFrom(seq)
    const text = (page: Page) => frame(seq, 'page', pageText(page))
    // A page that takes long is that of now all the same: what is written meanwhile follows it.
    const page = briefOrInTurns(
      this.#engine.ports.turns,
      reader.budget,
      () => findRows(reader, query),
      () => findInSlices(reader, query),
    )
    return page instanceof Promise ? page.then(text) : text(page)
  }

  #reader(grant: Grant): ReadContext {
    return readContextOf(this.#engine, grant, this.#options.budget(), this.#options.context)
  }

  /** What an event means to the list. */
  #meaning(reader: ReadContext, row: LogRow): string {
    const { noun, text } = this.#options
    const moved = this.#touched.has(row.type) ? this.#compare(reader, row) : ''
    const isLogged = noun.storage === 'log'
    if (!isLogged && row.type !== noun.name) return moved
    const id = isLogged ? row.id : row.entity
    // Before it is created an entity is on no list, and an event never changes.
    const before = isLogged || row.verb === 'create' ? undefined : this.#member(reader, id, row.seq - 1)
    const after = this.#member(reader, id, row.seq)
    if (before && after) return moved + frame(row.seq, 'change', text(after))
    if (moved !== '') return moved
    if (after) return frame(row.seq, 'enter', text(after))
    return before ? frame(row.seq, 'leave', text(before)) : ''
  }

  /** What enters and leaves because a related entity has changed. */
  #compare(reader: ReadContext, { seq }: LogRow): string {
    const { text } = this.#options
    const before = this.#members(reader, seq - 1)
    const after = this.#members(reader, seq)
    const left = [...before.values()].filter(({ id }) => !after.has(id))
    const entered = [...after.values()].filter(({ id }) => !before.has(id))
    return [
      ...left.map((one) => frame(seq, 'leave', text(one))),
      ...entered.map((one) => frame(seq, 'enter', text(one))),
    ].join('')
  }

  #members(reader: ReadContext, asOf: number): Map<string, Stored> {
    const { type, filter, include } = this.#options.query
    const { results, hasMore } = findRows(reader, { type, filter, include, asOf, limit: MOST_COMPARED, total: false })
    if (hasMore) {
      throw new Problem('too_many', `A live list through relations allows at most ${MOST_COMPARED} entities.`, {
        limit: MOST_COMPARED,
      })
    }
    return new Map(results.map((one) => [one.id, one]))
  }

  /** The entity as the list has it at a seq, or undefined. */
  #member(reader: ReadContext, id: string, asOf: number): Stored | undefined {
    const { type, filter, include } = this.#options.query
    const only = allOf([withId(id), filter!])
    return findRows(reader, { type, filter: only, include, asOf, limit: 1, total: false }).results[0]
  }
}
