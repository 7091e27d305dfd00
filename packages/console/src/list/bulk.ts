import { signal } from '@preact/signals'
import { Problem } from '@tildebase/client'
import type { Json } from '@tildebase/nouns'
import { invalidate } from '../service/cache.ts'
import { pagesOf } from '../service/pages.ts'
import { request } from '../service/service.ts'
import { newCorrelation, sayDone } from '../service/write.ts'
import { t } from '../texts/text.ts'
import { sayError, sentenceOf } from '../toast.ts'
import type { Entity } from '../values/entity.ts'
import { numberText } from '../values/format.ts'
import { type Noun, ownVerbs, verbsFor } from '../values/noun.ts'

const BATCH = 50

interface Progress {
  readonly text: string
  readonly done: number
  readonly total: number
}

/** How far the change of many entities is, while one runs. */
export const progress = signal<Progress | null>(null)

interface Result {
  readonly status: number
  readonly body: { readonly error?: Problem['code']; readonly message?: string; readonly field?: string } | null
}

/** What to do with each of many entities. */
export interface BulkChange {
  readonly noun: Noun
  /** `deleted`, `advanced`: what is said when it is done. */
  readonly done: string
  readonly method: 'POST' | 'PUT' | 'DELETE'
  /** Below the entity: empty, or `/advance`. */
  readonly suffix: string
  readonly body?: { readonly [field: string]: Json }
}

/** Changes many entities in batches that are undone together. When none of them was changed, it throws why. */
export async function changeMany(entities: readonly Entity[], change: BulkChange): Promise<void> {
  const correlation = newCorrelation()
  const failures: Error[] = []
  let changed = 0
  let lost: unknown = null
  try {
    for (let start = 0; start < entities.length; start += BATCH) {
      progress.value = { text: change.done, done: start, total: entities.length }
      const operations = entities.slice(start, start + BATCH).map(({ $id }) => ({
        id: $id,
        method: change.method,
        path: `/${change.noun.name}/${$id}${change.suffix}`,
        ...(change.body && { body: change.body }),
      }))
      const { results } = await request<{ results: Result[] }>('POST', '/batch', {
        body: { operations },
        headers: { 'x-correlation-id': correlation },
      })
      for (const { status, body } of results) {
        if (status < 300) changed += 1
        else failures.push(new Problem(body?.error ?? 'internal', body?.message ?? `status ${status}`, body ?? {}))
      }
    }
  } catch (reason) {
    lost = reason
  }
  progress.value = null
  invalidate(new Set([change.noun.name]))
  const [first] = failures
  if (changed === 0 && (lost || first)) throw lost ?? first
  if (lost) sayError(lost)
  if (changed > 0) {
    const refused = first ? ` ${t('{} refused: {}', numberText(failures.length), sentenceOf(first))}` : ''
    sayDone(`${t('{} {}.', numberText(changed), change.done)}${refused}`, correlation, first ? 'bad' : 'good')
  }
}

/** The verbs that every one of these entities may run from its state. */
export function commonVerbs(noun: Noun, entities: readonly Entity[]) {
  // A merge has a target of its own for each entity.
  const verbs = ownVerbs(noun).filter(({ name }) => name !== 'merge')
  return verbs.filter((verb) =>
    entities.every((entity) => verbsFor(noun, entity).some(({ name }) => name === verb.name)),
  )
}

/** All entities under a filter: each once, however many there are. */
export async function everyOne(noun: Noun, filter: object, total: number): Promise<Entity[]> {
  const found: Entity[] = []
  try {
    progress.value = { text: 'selected', done: 0, total }
    for await (const entities of pagesOf(noun.name, { filter })) {
      found.push(...entities)
      progress.value = { text: 'selected', done: found.length, total }
    }
  } finally {
    progress.value = null
  }
  return found
}
