import type { Json } from '@tildebase/nouns'
import type { Question } from '../list/question.ts'
import type { Page } from '../service/schema.ts'
import { request } from '../service/service.ts'
import type { Change } from '../values/diff.ts'
import { isMeta } from '../values/diff.ts'
import { type Entity, isEntity } from '../values/entity.ts'

/** How an entity of a list differs between then and now. */
export interface Difference {
  readonly kind: 'new' | 'gone' | 'changed'
  readonly entity: Entity
  readonly changes: readonly Change[]
}

export interface Differences {
  readonly all: readonly Difference[]
  /** Whether more entities changed than are listed. */
  readonly hasMore: boolean
}

const STEP = 100
const MOST = 500

/** What became of a list since a time: what came, what left, and what is different in it. */
export async function differencesOf(question: Question, time: string, signal: AbortSignal): Promise<Differences> {
  const { noun, filter } = question
  const touched = await request<{ results: { [path: string]: Json }[] }>('GET', '/Event/aggregate', {
    query: {
      group: 'properties.entityId',
      filter: { type: 'verb', 'properties.entityType': noun.name, timestamp: { $gt: time } },
    },
    signal,
  })
  const ids = touched.results.map((row) => String(row['properties.entityId'])).slice(0, MOST)
  const narrow = Object.keys(filter).length === 0 ? [] : [filter]
  const operations: object[] = []
  for (let start = 0; start < ids.length; start += STEP) {
    const some = { $id: { $in: ids.slice(start, start + STEP) } }
    const read = (id: string, query: object) =>
      operations.push({
        id: `${id} ${start}`,
        method: 'GET',
        path: `/${noun.name}`,
        query: { limit: STEP, total: false, ...query },
      })
    read('then', { filter: { $and: [...narrow, some] }, asOf: time })
    read('now', { filter: { $and: [...narrow, some] } })
    // What left the list may be there still, with other values.
    read('all', { filter: some })
  }
  if (operations.length === 0) return { all: [], hasMore: false }
  const { results } = await request<{ results: { id: string; status: number; body: Page }[] }>('POST', '/batch', {
    body: { operations },
    signal,
  })
  const part = (name: string) =>
    new Map(
      results
        .filter(({ id, status }) => id.startsWith(`${name} `) && status === 200)
        .flatMap(({ body }) => body.results.map((entity) => [entity.$id, entity] as const)),
    )
  const [then, now, present] = [part('then'), part('now'), part('all')]
  const all = ids.flatMap((id): Difference[] => {
    const [before, after] = [then.get(id), now.get(id)]
    if (!before && after) return [{ kind: 'new', entity: after, changes: [] }]
    const current = present.get(id)
    if (before && !after)
      return [{ kind: 'gone', entity: before, changes: current ? fieldChanges(before, current) : [] }]
    if (!before || !after) return []
    const changes = fieldChanges(before, after)
    return changes.length === 0 ? [] : [{ kind: 'changed', entity: after, changes }]
  })
  return { all, hasMore: touched.results.length > MOST }
}

/** The fields that two states of an entity differ in. */
export function fieldChanges(before: Entity, after: Entity): Change[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !isMeta(name))
  return names
    .map((field) => ({ field, before: plain(before[field]), after: plain(after[field]) }))
    .filter((change) => JSON.stringify(change.before) !== JSON.stringify(change.after))
}

function plain(value: Json | undefined): Json {
  if (isEntity(value)) return value.$id
  if (Array.isArray(value)) return value.map(plain)
  return value ?? null
}
