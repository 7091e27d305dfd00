import type { Field, Json } from '@tildebase/nouns'
import type { Entity } from '../values/entity.ts'
import type { Noun } from '../values/noun.ts'

/** What a list is asked. */
export interface Question {
  readonly noun: Noun
  readonly filter: { readonly [field: string]: Json }
  readonly sort: string | null
  readonly include: readonly string[]
  readonly time: string | null
}

export interface ListPage {
  readonly results: readonly Entity[]
  readonly total: number
  readonly hasMore: boolean
  /** How many entities lie before this page. */
  readonly begin: number
  /** How many there are of each group, when the sort goes by groups. */
  readonly groups: readonly Segment[] | null
}

/** The entities that share one value of the sorted field: a word, or the id that a relation leads to. */
export interface Segment {
  readonly value: Json
  /** What the value is sorted by: relations by their names. */
  readonly label: string | null
  readonly count: number
}

/** The field whose values the list is sorted by, when the service cannot sort by it. */
export function segmentField({ noun, sort }: Question): Field | null {
  const field = noun.fields[(sort ?? '').replace(/^-/, '')]
  return field && !field.list && (field.kind === 'enum' || field.kind === 'forward') ? field : null
}

/** What a request takes from a question. */
export function queryOf({ filter, include, time }: Question) {
  return { filter: emptyOr(filter), include: include.join(',') || undefined, asOf: time ?? undefined }
}

/** A filter without conditions is left out. */
export function emptyOr(filter: Question['filter']): Question['filter'] | undefined {
  return Object.keys(filter).length === 0 ? undefined : filter
}
