import { asOf } from '../place.ts'
import type { Entity } from '../values/entity.ts'
import { typeOfId } from '../values/entity.ts'
import { titleField, titleRelations } from '../values/noun.ts'
import { mayRead } from './access.ts'
import { useData } from './cache.ts'
import { nouns, type Page, titleOf } from './schema.ts'
import { request } from './service.ts'

const STEP = 100

/** The names of entities by their ids, as far as they are known. Ids of types that cannot be read are left out. */
export function useNames(ids: readonly string[]): ReadonlyMap<string, string> {
  const wanted = [...new Set(ids)].filter((id) => mayRead(typeOfId(id))).sort()
  const found = useData<ReadonlyMap<string, string>>(
    ['names', wanted],
    wanted.length === 0 ? null : (signal) => namesOf(wanted, signal),
    { types: [...new Set(wanted.map(typeOfId))] },
  )
  return found.value ?? new Map()
}

/** The names of entities by their ids: a hundred of a type in an operation, a hundred operations in a request. */
export async function namesOf(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const known = ids.filter((id) => mayRead(typeOfId(id)))
  const parts = [...Map.groupBy(known, typeOfId)].flatMap(([type, some]) =>
    Array.from({ length: Math.ceil(some.length / STEP) }, (_, n) => ({
      type,
      ids: some.slice(n * STEP, (n + 1) * STEP),
    })),
  )
  if (parts.length === 0) return new Map()
  const operations = parts.slice(0, STEP).map(({ type, ids: some }, n) => ({
    id: `${type} ${n}`,
    method: 'GET',
    path: `/${type}`,
    query: {
      filter: { $id: { $in: some } },
      limit: STEP,
      total: false,
      include: titleRelations(nouns.value.get(type)!).join(',') || undefined,
    },
  }))
  const { results } = await request<{ results: { status: number; body: Page }[] }>('POST', '/batch', {
    body: { operations },
    signal,
  })
  const entities = results.flatMap(({ status, body }) => (status === 200 ? body.results : []))
  return new Map(entities.map((entity) => [entity.$id, titleOf(entity, nouns.value.get(entity.$type))]))
}

/** Entities of a type by the beginnings of words in their names. */
export async function findByName(type: string, words: string, signal: AbortSignal): Promise<readonly Entity[]> {
  const noun = nouns.value.get(type)
  if (!noun) return []
  const clean = words.replace(/[^\p{L}\p{N}]+/gu, ' ').trim()
  const title = titleField(noun)
  const { results } = await request<Page>('GET', `/${type}`, {
    query: {
      limit: 12,
      total: false,
      filter: clean === '' ? undefined : { $text: clean },
      sort: clean === '' && title !== null ? '-$updatedAt' : undefined,
      include: titleRelations(noun).join(',') || undefined,
      asOf: clean === '' ? (asOf.value ?? undefined) : undefined,
    },
    signal,
  })
  return results
}
