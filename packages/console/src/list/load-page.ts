import { preferences } from '../preferences.ts'
import type { Page } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { type ListPage, type Question, queryOf, segmentField } from './question.ts'

/** Where the pages of a question begin, as far as they were seen. */
const cursors = new Map<string, Map<number, string>>()

/** One page of a list, counted from 1. States sort by their order, and relations by the names of what they lead to. */
export async function loadPage(question: Question, page: number, signal: AbortSignal): Promise<ListPage> {
  const field = segmentField(question)
  if (field !== null) {
    const { loadSegmented } = await import('./segments.ts')
    const found = await loadSegmented(question, field, page, signal)
    if (found) return found
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
