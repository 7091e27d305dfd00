import type { Field, Json } from '@tildebase/nouns'
import { preferences } from '../preferences.ts'
import { namesOf } from '../service/names.ts'
import { nouns, type Page } from '../service/schema.ts'
import { request } from '../service/service.ts'
import type { Entity } from '../values/entity.ts'
import { type Noun, targetsOf, titleField, wordsOf } from '../values/noun.ts'

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
interface Segment {
  readonly value: Json
  /** What the value is sorted by: relations by their names. */
  readonly label: string | null
  readonly count: number
}

/** Groups that the service tells at most; with more, an order by name cannot be made of them. */
const MOST_GROUPS = 1_000

/** Where the pages of a question begin, as far as they were seen. */
const cursors = new Map<string, Map<number, string>>()

/** One page of a list, counted from 1. States sort by their order, and relations by the names of what they lead to. */
export async function loadPage(question: Question, page: number, signal: AbortSignal): Promise<ListPage> {
  const field = segmentField(question)
  if (field !== null) {
    const groups = await segmentsOf(question, field, signal)
    if (groups) return loadSegments(question, field.name, groups, page, signal)
  }
  return loadPlain(question, page, signal)
}

async function loadPlain(question: Question, page: number, signal: AbortSignal): Promise<ListPage> {
  const key = JSON.stringify([
    preferences.value.pageSize,
    question.noun.name,
    question.filter,
    question.sort,
    question.time,
  ])
  const known = cursors.get(key) ?? new Map<number, string>()
  cursors.set(key, known)
  const { pageSize } = preferences.value
  const begin = (page - 1) * pageSize
  const cursor = known.get(page)
  const at = begin === 0 ? {} : cursor === undefined ? { offset: begin } : { cursor }
  const answer = await request<Page>('GET', `/${question.noun.name}`, {
    query: { ...queryOf(question), sort: question.sort ?? undefined, limit: pageSize, ...at },
    signal,
  })
  if (answer.cursor) known.set(page + 1, answer.cursor)
  return { results: answer.results, total: answer.total, hasMore: answer.hasMore, begin, groups: null }
}

/** The field whose values the list is sorted by, when the service cannot sort by it. */
function segmentField({ noun, sort }: Question): Field | null {
  const field = noun.fields[(sort ?? '').replace(/^-/, '')]
  return field && !field.list && (field.kind === 'enum' || field.kind === 'forward') ? field : null
}

/** The values in their order, with how many entities have each; null when there are too many to order. */
async function segmentsOf(question: Question, field: Field, signal: AbortSignal): Promise<Segment[] | null> {
  const { noun, sort, filter, time } = question
  const isRelation = field.kind === 'forward'
  const title = isRelation && targetsOf(field).length === 1 ? titleField(nouns.value.get(field.target)) : null
  const named = title === null ? null : `${field.name}.${title}`
  const { results } = await request<{ results: { [path: string]: Json }[] }>('GET', `/${noun.name}/aggregate`, {
    query: {
      group: named === null ? field.name : `${field.name},${named}`,
      filter: emptyOr(filter),
      asOf: time ?? undefined,
    },
    signal,
  })
  if (results.length >= MOST_GROUPS) return null
  const values = results.map((group) => ({ value: group[field.name] ?? null, count: Number(group.count), group }))
  const ids = values.flatMap(({ value }) => (typeof value === 'string' ? [value] : []))
  // A relation that may lead to several types has no path to its names.
  const names = isRelation && named === null ? await namesOf(ids, signal) : new Map<string, string>()
  const words = wordsOf(field)
  const segments = values.map(({ value, count, group }) => ({
    value,
    count,
    label: named === null ? (names.get(String(value)) ?? null) : (group[named] as string | null),
  }))
  const rank = ({ value }: Segment) => (value === null ? -1 : words.indexOf(String(value)))
  segments.sort((a, b) => (isRelation ? compare(a.label, b.label) : rank(a) - rank(b)))
  return sort?.startsWith('-') ? segments.reverse() : segments
}

function compare(a: string | null, b: string | null): number {
  return (a ?? '').localeCompare(b ?? '', undefined, { sensitivity: 'base', numeric: true })
}

async function loadSegments(
  question: Question,
  name: string,
  groups: readonly Segment[],
  page: number,
  signal: AbortSignal,
): Promise<ListPage> {
  const { pageSize } = preferences.value
  const begin = (page - 1) * pageSize
  const total = groups.reduce((sum, { count }) => sum + count, 0)
  const operations: object[] = []
  let start = 0
  for (const { value, count } of groups) {
    const from = Math.max(begin, start)
    const to = Math.min(begin + pageSize, start + count)
    if (from < to) {
      const { filter, ...query } = queryOf(question)
      const both = filter ? { $and: [filter, { [name]: value }] } : { [name]: value }
      operations.push({
        id: `group${operations.length}`,
        method: 'GET',
        path: `/${question.noun.name}`,
        query: { ...query, filter: both, offset: from - start, limit: to - from, total: false },
      })
    }
    start += count
  }
  const answer = await request<{ results: { status: number; body: Page }[] }>('POST', '/batch', {
    body: { operations: operations.length > 0 ? operations : [NOTHING(question)] },
    signal,
  })
  const results = answer.results.flatMap(({ status, body }) => (status === 200 ? body.results : []))
  return { results, total, hasMore: begin + pageSize < total, begin, groups }
}

const NOTHING = ({ noun }: Question) => ({
  id: 'none',
  method: 'GET',
  path: `/${noun.name}`,
  query: { filter: { $id: { $in: [] } }, total: false },
})

function queryOf({ filter, include, time }: Question) {
  return { filter: emptyOr(filter), include: include.join(',') || undefined, asOf: time ?? undefined }
}

function emptyOr(filter: Question['filter']): Question['filter'] | undefined {
  return Object.keys(filter).length === 0 ? undefined : filter
}
