import { allOf, type Filter, type Noun, Problem, touches } from '@tildebase/nouns'
import {
  demand,
  feedOf,
  filterOf,
  findRows,
  type Grant,
  type LogRow,
  type Query,
  type ReadContext,
  readContextOf,
  readLog,
  type Stored,
} from '@tildebase/tenant'
import type { Call } from '../call.ts'
import type { HttpResponse } from '../http.ts'
import { pageText, textFor } from './entity-text.ts'
import { frame, type LiveSource, lastSeen, liveAnswer, Tail } from './live.ts'

const PAGE = 100
/** A filter through relations is followed by comparing what passes it before and after. */
const MOST_COMPARED = 10_000

/** A list that stays true: its page now, then what enters it, changes in it and leaves it. */
export function liveList(call: Call, noun: Noun, query: Query): HttpResponse {
  if (query.asOf !== null && query.asOf !== undefined) {
    throw new Problem('invalid_as_of', 'A live list is about the present: leave asOf out.', { field: 'asOf' })
  }
  if (hasText(query.filter!)) {
    throw new Problem('invalid_filter', '$text cannot be followed live. Use other conditions.', { field: '$text' })
  }
  return liveAnswer(call, new LiveList(call, noun, query))
}

class LiveList implements LiveSource {
  readonly #call: Call
  readonly #noun: Noun
  readonly #query: Query
  readonly #touched: ReadonlySet<string>
  #tail: Tail | null

  constructor(call: Call, noun: Noun, query: Query) {
    this.#call = call
    this.#noun = noun
    this.#query = query
    this.#touched = touches(query.filter!)
    const seen = lastSeen(call)
    this.#tail = seen === null ? null : this.#tailFrom(seen)
  }

  read(grant: Grant): string | Uint8Array {
    demand(grant, 'read', this.#noun)
    return this.#tail === null ? this.#page(grant) : this.#tail.read(grant)
  }

  #tailFrom(position: number): Tail {
    const { tenant, ask, context } = this.#call
    const about = JSON.stringify([this.#noun.name, this.#query, ask.query, context])
    return new Tail(tenant, about, position, (after, grant) => {
      const reader = readContextOf(tenant, grant, context)
      const rows = this.#rows(after)
      return { text: rows.map((row) => this.#tell(reader, row)).join(''), position: rows.at(-1)!.seq }
    })
  }

  #rows(after: number): readonly LogRow[] {
    const { tenant } = this.#call
    return feedOf(tenant).recent(after)?.slice(0, PAGE) ?? readLog(tenant.sql, after, PAGE)
  }

  #page(grant: Grant): string {
    const { tenant, context } = this.#call
    const { seq } = tenant.head
    const reader = readContextOf(tenant, grant, context)
    this.#tail = this.#tailFrom(seq)
    return frame(seq, 'page', pageText(findRows(reader, this.#query), this.#text))
  }

  /** What an event means to the list. */
  #tell(reader: ReadContext, row: LogRow): string {
    const moved = this.#touched.has(row.type) ? this.#compare(reader, row) : ''
    const isEvent = this.#noun.name === 'Event'
    if (!isEvent && row.type !== this.#noun.name) return moved
    const id = isEvent ? row.id : row.entity
    const before = this.#member(reader, id, row.seq - 1)
    const after = this.#member(reader, id, row.seq)
    if (before && after) return moved + frame(row.seq, 'change', this.#text(after))
    if (moved !== '') return moved
    if (after) return frame(row.seq, 'enter', this.#text(after))
    return before ? frame(row.seq, 'leave', this.#text(before)) : ''
  }

  /** What enters and leaves because something it is related to has changed. */
  #compare(reader: ReadContext, { seq }: LogRow): string {
    const before = this.#members(reader, seq - 1)
    const after = this.#members(reader, seq)
    const left = [...before.values()].filter(({ id }) => !after.has(id))
    const entered = [...after.values()].filter(({ id }) => !before.has(id))
    return [
      ...left.map((one) => frame(seq, 'leave', this.#text(one))),
      ...entered.map((one) => frame(seq, 'enter', this.#text(one))),
    ].join('')
  }

  #members(reader: ReadContext, asOf: number): Map<string, Stored> {
    const { type, filter, include } = this.#query
    const { results, hasMore } = findRows(reader, { type, filter, include, asOf, limit: MOST_COMPARED, total: false })
    if (hasMore) {
      throw new Problem('too_many', `A live list through relations follows ${MOST_COMPARED} entities at most.`, {
        limit: MOST_COMPARED,
      })
    }
    return new Map(results.map((one) => [one.id, one]))
  }

  /** The entity as the list has it at a seq, or undefined. */
  #member(reader: ReadContext, id: string, asOf: number): Stored | undefined {
    const { type, filter, include } = this.#query
    const only = allOf([filterOf(this.#call.tenant, this.#noun, { $id: id }), filter!])
    return findRows(reader, { type, filter: only, include, asOf, limit: 1, total: false }).results[0]
  }

  get #text(): (entity: Stored) => string {
    return textFor(this.#call, this.#noun)
  }
}

function hasText(filter: Filter): boolean {
  if (filter.op === 'text') return true
  if (filter.op === 'and' || filter.op === 'or') return filter.of.some(hasText)
  return filter.op === 'not' && hasText(filter.of)
}
