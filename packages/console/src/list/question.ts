import type { Json } from '@tildebase/nouns'
import { nouns, type Page } from '../service/schema.ts'
import { request } from '../service/service.ts'
import type { Entity } from '../values/entity.ts'
import { type Noun, titleField, wordsOf } from '../values/noun.ts'

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

/** The entities that share one value of the sorted field. */
interface Segment {
  readonly value: Json
  readonly count: number
}

export const PAGE = 25

/** Groups that the service tells at most; with more, an order by name cannot be made of them. */
const MOST_GROUPS = 1_000

/** Where the pages of a question begin, as far as they were seen. */
const cursors = new Map<string, Map<number, string>>()

/** One page of a list, counted from 1. States sort by their order, and relations by the names of what they lead to. */
export async function loadPage(question: Question, page: number, signal: AbortSignal): Promise<ListPage> {
  const path = segmentPath(question)
  if (path !== null) {
    const groups = await segmentsOf(question, path, signal)
    if (groups) return loadSegments(question, path, groups, page, signal)
  }
  return loadPlain(question, page, signal)
}

async function loadPlain(question: Question, page: number, signal: AbortSignal): Promise<ListPage> {
  const key = JSON.stringify([question.noun.name, question.filter, question.sort, question.time])
  const known = cursors.get(key) ?? new Map<number, string>()
  cursors.set(key, known)
  const begin = (page - 1) * PAGE
  const cursor = known.get(page)
  const at = begin === 0 ? {} : cursor === undefined ? { offset: begin } : { cursor }
  const answer = await request<Page>('GET', `/${question.noun.name}`, {
    query: { ...queryOf(question), sort: question.sort ?? undefined, limit: PAGE, ...at },
    signal,
  })
  if (answer.cursor) known.set(page + 1, answer.cursor)
  return { results: answer.results, total: answer.total, hasMore: answer.hasMore, begin, groups: null }
}

/** The path whose values the list is sorted by, when the service cannot sort by it. */
function segmentPath({ noun, sort }: Question): string | null {
  const field = noun.fields[(sort ?? '').replace(/^-/, '')]
  if (field?.kind === 'enum' && !field.list) return field.name
  if (field?.kind !== 'forward' || field.list) return null
  const title = titleField(nouns.value.get(field.target))
  return title === null ? null : `${field.name}.${title}`
}

/** The values in their order, with how many entities have each; null when there are too many to order. */
async function segmentsOf(question: Question, path: string, signal: AbortSignal): Promise<Segment[] | null> {
  const { noun, sort, filter, time } = question
  const { results } = await request<{ results: { [path: string]: Json }[] }>('GET', `/${noun.name}/aggregate`, {
    query: { group: path, filter: emptyOr(filter), asOf: time ?? undefined },
    signal,
  })
  if (results.length >= MOST_GROUPS) return null
  const words = wordsOf(noun.fields[path])
  const rank = (value: Json) => (value === null ? -1 : words.indexOf(String(value)))
  const segments = results.map((group) => ({ value: group[path] ?? null, count: Number(group.count) }))
  segments.sort((a, b) =>
    words.length > 0
      ? rank(a.value) - rank(b.value)
      : String(a.value ?? '').localeCompare(String(b.value ?? ''), undefined, { sensitivity: 'base', numeric: true }),
  )
  return sort?.startsWith('-') ? segments.reverse() : segments
}

async function loadSegments(
  question: Question,
  path: string,
  groups: readonly Segment[],
  page: number,
  signal: AbortSignal,
): Promise<ListPage> {
  const begin = (page - 1) * PAGE
  const total = groups.reduce((sum, { count }) => sum + count, 0)
  const operations: object[] = []
  let start = 0
  for (const { value, count } of groups) {
    const from = Math.max(begin, start)
    const to = Math.min(begin + PAGE, start + count)
    if (from < to) {
      const { filter, ...query } = queryOf(question)
      const both = filter ? { $and: [filter, { [path]: value }] } : { [path]: value }
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
  return { results, total, hasMore: begin + PAGE < total, begin, groups }
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
