import type { EventRecord } from '@tildebase/client'
import type { Json, JsonObject } from '@tildebase/nouns'
import { dayNamed, moved } from '../list/filter/periods.ts'
import { nouns, type Page, titleOf } from '../service/schema.ts'
import { request } from '../service/service.ts'
import type { Entity } from '../values/entity.ts'
import { labelOf } from '../values/format.ts'

/** An event as the console lists it, whether it came from the log or from the stream. */
export interface LoggedEvent {
  readonly id: string
  /** `Deal.won`, or the name of a tracked event. */
  readonly type: string
  readonly timestamp: string
  readonly entityType: string
  readonly entityId: string
  readonly verb: string
  readonly actor: string
  readonly data: JsonObject
  readonly previous: JsonObject | null
}

/** What narrows the log besides its pattern. */
export interface LogNarrow {
  readonly actor: string
  readonly from: string
  readonly to: string
  /** The id of the entity that the events are about. */
  readonly record: string
}

export interface LogQuestion {
  /** `Deal.won`, `Deal.*`, `*.created`, `Deal`, or empty for all. */
  readonly pattern: string
  readonly time: string | null
  /** Who acted, and the first and the last day; all when left out. */
  readonly narrow?: LogNarrow
  readonly cursor: string | null
  readonly limit: number
  /** False does not count them: the page is there sooner. */
  readonly total?: false
  /** True leaves out events that were tracked rather than caused by a verb. */
  readonly verbsOnly?: boolean
}

export interface LogPage {
  readonly events: readonly LoggedEvent[]
  readonly total: number
  readonly cursor: string | null
}

/** A page of the log, newest first, under a pattern and up to a time. */
export async function loadEvents(question: LogQuestion, signal: AbortSignal): Promise<LogPage> {
  const filter = {
    ...nameFilter(question.pattern),
    ...(question.verbsOnly && { type: 'verb' }),
    ...(question.narrow?.actor && { $createdBy: question.narrow.actor }),
    ...(question.narrow?.record && { 'properties.entityId': question.narrow.record }),
    ...timesOf(question),
  }
  const page = await request<Page>('GET', '/Event', {
    query: {
      filter: Object.keys(filter).length === 0 ? undefined : filter,
      sort: '-timestamp',
      limit: question.limit,
      total: question.total,
      cursor: question.cursor ?? undefined,
    },
    signal,
  })
  return { events: page.results.map(eventOf), total: page.total ?? 0, cursor: page.hasMore ? page.cursor : null }
}

/** The times between which events are asked for. */
function timesOf({ time, narrow }: LogQuestion): { timestamp?: Json } {
  const from = dayNamed(narrow?.from ?? '')
  const to = dayNamed(narrow?.to ?? '')
  const end = to === null ? null : moved(to, 1).toISOString()
  const bounds = {
    ...(from && { $gte: from.toISOString() }),
    ...(end !== null && { $lt: end }),
    ...(time && { $lte: time }),
  }
  return Object.keys(bounds).length === 0 ? {} : { timestamp: bounds }
}

/** What an event is about: the title of its entity, or the name of a type that was declared. */
export function titleOfEvent({ entityType, data }: Pick<LoggedEvent, 'entityType' | 'data'>): string {
  const title = titleOf(data, nouns.value.get(entityType))
  return entityType === 'Schema' ? labelOf(title) : title
}

/** An event of the stream. */
export function streamed(event: EventRecord): LoggedEvent {
  const { id, type, timestamp, entityType, entityId, verb, actor, data, previous } = event
  const isTracked = entityType === 'Event'
  return {
    id,
    type: isTracked ? String(data.name ?? type) : type,
    timestamp,
    entityType,
    entityId,
    verb,
    actor,
    data,
    previous: previous ?? null,
  }
}

/** Whether an event falls under a pattern. */
export function matches(pattern: string, { type, entityType }: Pick<LoggedEvent, 'type' | 'entityType'>): boolean {
  const [kind = '*', name = '*'] = pattern.trim().split('.')
  if (pattern.trim() === '' || pattern.trim() === type) return true
  const own = type.split('.')[1] ?? type
  const same = (wanted: string, word: string) => wanted === '*' || wanted.toLowerCase() === word.toLowerCase()
  return same(kind, entityType) && same(name, own)
}

const texts = new WeakMap<LoggedEvent, string>()

/** Whether words are somewhere in an event. */
export function hasWords(event: LoggedEvent, words: string): boolean {
  if (words === '') return true
  const text = texts.get(event) ?? JSON.stringify(event).toLowerCase()
  texts.set(event, text)
  return text.includes(words.toLowerCase())
}

/** Whether a string can be a pattern of events. */
export function isPattern(text: string): boolean {
  const word = text.trim()
  return word === '' || nouns.value.has(word) || /^(\*|[A-Za-z][\w-]*)(\.(\*|[A-Za-z][\w-]*))?$/.test(word)
}

function nameFilter(pattern: string): { [field: string]: Json } {
  const word = pattern.trim()
  if (word === '' || word === '*') return {}
  const [kind = '*', name = '*'] = word.split('.')
  if (!word.includes('.')) return nouns.value.has(word) ? { 'properties.entityType': word } : { name: word }
  if (kind === '*' && name === '*') return {}
  if (kind === '*') return { name: { $regex: `\\.${name}$`, $options: 'i' } }
  if (name === '*') return { name: { $regex: `^${kind}\\.`, $options: 'i' } }
  return { name: word }
}

function eventOf(entity: Entity): LoggedEvent {
  const about = (entity.properties ?? {}) as JsonObject
  const isVerb = entity.type === 'verb' && typeof about.entityType === 'string'
  return {
    id: entity.$id,
    type: String(entity.name),
    timestamp: String(entity.timestamp),
    entityType: isVerb ? String(about.entityType) : 'Event',
    entityId: isVerb ? String(about.entityId) : entity.$id,
    verb: isVerb ? String(about.verb) : 'create',
    actor: String(entity.$createdBy),
    data: isVerb ? ((entity.data ?? {}) as JsonObject) : entity,
    previous: (about.previous as JsonObject | undefined) ?? null,
  }
}
