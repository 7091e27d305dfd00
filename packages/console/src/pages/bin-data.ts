import { type LoggedEvent, loadEvents } from '../events/event-log.ts'
import { may } from '../service/rights.ts'
import { nouns, type Page, titleOf } from '../service/schema.ts'
import { request } from '../service/service.ts'
import type { Version } from '../values/diff.ts'
import { hasWords, labelOf } from '../values/format.ts'

const STEP = 50

/** Something that was deleted, and how many of the page were deleted together with it. */
export interface Deleted extends LoggedEvent {
  readonly correlation: string | null
  readonly together: number
}

export interface BinPage {
  readonly deleted: readonly Deleted[]
  /** Those that were read, also without the words that are looked for. */
  readonly read: readonly Deleted[]
  readonly cursor: string | null
}

export function nameOf(event: LoggedEvent): string {
  return titleOf(event.data, nouns.value.get(event.entityType)) || labelOf(event.entityType)
}

/** A page of deletions, without what exists again at that time. */
export async function loadBin(
  type: string,
  time: string | null,
  cursor: string | null,
  signal: AbortSignal,
): Promise<BinPage> {
  const pattern = `${type === '' ? '*' : type}.deleted`
  const { events, cursor: next } = await loadEvents({ pattern, time, cursor, limit: STEP }, signal)
  const newest = [...new Map([...events].reverse().map((event) => [event.entityId, event])).values()].reverse()
  const known = newest.filter(
    (event) => nouns.value.has(event.entityType) && may('read', nouns.value.get(event.entityType)),
  )
  if (known.length === 0) return { deleted: [], read: [], cursor: next }
  const gone = await (time === null ? deletedNow(known, signal) : deletedThen(known, time, signal))
  const deleted = known.filter(({ id }) => gone.has(id))
  const sizes = new Map<string, number>()
  for (const { id } of deleted) {
    const correlation = gone.get(id)
    if (correlation) sizes.set(correlation, (sizes.get(correlation) ?? 0) + 1)
  }
  const read = deleted.map((event) => {
    const correlation = gone.get(event.id) ?? null
    return { ...event, correlation, together: sizes.get(correlation ?? '') ?? 1 }
  })
  return { deleted: read, read, cursor: next }
}

/** The newest of the deleted whose names have some words, in all pages from a cursor on, until there is a page of them. */
export async function findInBin(
  type: string,
  time: string | null,
  from: string | null,
  words: string,
  signal: AbortSignal,
): Promise<BinPage> {
  const found: Deleted[] = []
  const read: Deleted[] = []
  let cursor = from
  do {
    const page = await loadBin(type, time, cursor, signal)
    read.push(...page.deleted)
    found.push(...page.deleted.filter((one) => hasWords(nameOf(one), words)))
    cursor = page.cursor
  } while (cursor !== null && found.length < STEP)
  return { deleted: found, read, cursor }
}

/** The events whose entity is still deleted, each with what its deletion belongs to. */
async function deletedNow(
  events: readonly LoggedEvent[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string | null>> {
  const answers = await ask<Page<Version>>(events, (one) => `${pathOf(one)}/history`, { limit: 1 }, signal)
  return new Map(
    answers.flatMap(({ id, status, body }) => {
      const last = status === 200 ? body.results[0] : undefined
      return last?.verb === 'delete' ? [[id, last.correlation] as const] : []
    }),
  )
}

/** The events whose entity did not exist at a time. */
async function deletedThen(
  events: readonly LoggedEvent[],
  time: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, null>> {
  const answers = await ask(events, pathOf, { fields: '$id', asOf: time }, signal)
  return new Map(answers.filter(({ status }) => status === 404).map(({ id }) => [id, null]))
}

async function ask<T>(
  events: readonly LoggedEvent[],
  path: (event: LoggedEvent) => string,
  query: object,
  signal: AbortSignal,
): Promise<readonly { readonly id: string; readonly status: number; readonly body: T }[]> {
  const operations = events.map((event) => ({ id: event.id, method: 'GET', path: path(event), query }))
  const { results } = await request<{ results: { id: string; status: number; body: T }[] }>('POST', '/batch', {
    body: { operations },
    signal,
  })
  return results
}

function pathOf({ entityType, entityId }: LoggedEvent): string {
  return `/${entityType}/${entityId}`
}
