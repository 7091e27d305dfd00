import type { Json } from '@tildebase/nouns'
import type { Page } from '../../service/schema.ts'
import { request } from '../../service/service.ts'
import type { Entity } from '../../values/entity.ts'
import { wordsOf } from '../../values/noun.ts'
import { loadPage } from '../load-page.ts'
import { type Question, segmentField } from '../question.ts'

const CARDS = 40

/** A column of a board: its first cards, how many there are in all, and the sum of their amounts. */
export interface Column {
  readonly word: string
  readonly cards: readonly Entity[]
  readonly count: number
  /** The sums of the amounts in each currency; null for types without amounts. */
  readonly sums: readonly { readonly currency: Json; readonly sum: number }[] | null
}

/** All columns of a board: in one request, unless their order goes by choices or names, which needs some more. */
export async function loadColumns(
  question: Question,
  field: string,
  money: string | null,
  signal: AbortSignal,
): Promise<Column[]> {
  const { noun, filter, sort, include, time } = question
  const words = wordsOf(noun.fields[field])
  const asOf = time ?? undefined
  const hasCurrency = money !== null && noun.fields.currency !== undefined
  const both = (word: string) =>
    Object.keys(filter).length === 0 ? { [field]: word } : { $and: [filter, { [field]: word }] }
  const isOrdered = segmentField(question) !== null
  const ordered = isOrdered
    ? await Promise.all(words.map((word) => loadPage({ ...question, filter: both(word) }, 1, signal)))
    : null
  const operations = [
    {
      id: 'counts',
      method: 'GET',
      path: `/${noun.name}/aggregate`,
      query: {
        group: hasCurrency ? `${field},currency` : field,
        sum: money ?? undefined,
        filter: Object.keys(filter).length === 0 ? undefined : filter,
        asOf,
      },
    },
    ...(isOrdered ? [] : words).map((word) => ({
      id: word,
      method: 'GET',
      path: `/${noun.name}`,
      query: {
        filter: both(word),
        sort: sort ?? '-$updatedAt',
        include: include.join(',') || undefined,
        limit: CARDS,
        total: false,
        asOf,
      },
    })),
  ]
  const { results } = await request<{ results: { status: number; body: unknown }[] }>('POST', '/batch', {
    body: { operations },
    signal,
  })
  const counted = results[0]?.body as { results?: { [name: string]: Json }[] } | undefined
  const groups = counted?.results ?? []
  return words.map((word, at) => {
    const own = groups.filter((one) => one[field] === word)
    const sumOf = (group: { [name: string]: Json }) =>
      Number((group.sum as { [name: string]: number } | undefined)?.[money ?? ''] ?? 0)
    return {
      word,
      cards: ordered
        ? ordered[at]!.results.slice(0, CARDS)
        : ((results[at + 1]?.body as Page | undefined)?.results ?? []),
      count: own.reduce((count, group) => count + Number(group.count), 0),
      sums: money === null ? null : own.map((group) => ({ currency: group.currency ?? null, sum: sumOf(group) })),
    }
  })
}
