import type { Field, Json } from '@tildebase/nouns'
import { preferences } from '../preferences.ts'
import { namesOf } from '../service/names.ts'
import { nouns, type Page } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { targetsOf, titleField, wordsOf } from '../values/noun.ts'
import { emptyOr, type ListPage, type Question, queryOf, type Segment } from './question.ts'

/** Groups that the service tells at most; with more, an order by name cannot be made of them. */
const MOST_GROUPS = 1_000

/** A page of a list that is sorted by choices or by names, which the service cannot do; null with too many of them. */
export async function loadSegmented(
  question: Question,
  field: Field,
  page: number,
  signal: AbortSignal,
): Promise<ListPage | null> {
  const groups = await segmentsOf(question, field, signal)
  return groups && loadSegments(question, field.name, groups, page, signal)
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
