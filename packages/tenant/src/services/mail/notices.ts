import { isoOf, type Json, type JsonObject } from '@tildebase/nouns'
import { unlimited } from '../../budget.ts'
import type { Engine } from '../../engine/engine.ts'
import { may } from '../../grant/grant.ts'
import { isVisible } from '../../query/rights/visible-entity.ts'
import { askWithId } from '../../store/automation/asks.ts'
import { liveEntities, presentOf } from '../../store/entities.ts'
import {
  addNotice,
  countUnread,
  keepNotices,
  type NoticeRow,
  noticesOf,
  readNotices,
} from '../../store/mail/notices.ts'
import type { TransactionListener, Write } from '../../write/write.ts'
import { personGrant } from '../identity/people.ts'
import { choicesOf, type NoticeKind } from './choices.ts'
import { transportOf } from './transport.ts'

const DAY = 86_400_000
/** When the daily e-mail goes out: six o'clock, UTC. */
const MORNING = 6 * 3_600_000
const MOST_KEPT = 1_000
const MOST_PEOPLE = 1_000
const MOST_TITLE = 200
/** Fields that make an entity a person's. */
const ASSIGNED = ['assignee', 'owner'] as const

/** Tells people of what concerns them, in the transaction of the event. */
export const noteNotices: TransactionListener = (write, event, entity) => {
  const { type, data, args, actor } = event
  if (type === 'Comment' && event.event === 'mentioned') {
    for (const user of textsIn((JSON.parse(args ?? '{}') as JsonObject).users)) {
      notify(write, { user, kind: 'mentioned', type, entity: entity.id, by: actor })
    }
  } else if (type === 'Changeset') noteChangeset(write, event.event, entity.id, data, actor)
  else if (data?.includes('"user_')) noteAssignments(write, event, entity.id)
}

function noteChangeset(write: Write, event: string, id: string, data: string | null, by: string): void {
  const { author = '', types = [] } = JSON.parse(data ?? '{}') as { author?: string; types?: readonly string[] }
  const told = { kind: 'changeset', type: 'Changeset', entity: id, by } as const
  if (event === 'proposed') {
    for (const user of reviewersOf(write.engine, types)) if (user !== author) notify(write, { user, ...told })
  } else if (['approved', 'rejected', 'commented'].includes(event) && author.startsWith('user_')) {
    notify(write, { user: author, ...told })
  }
}

/** The people with the rights to run all that a changeset proposes. */
function reviewersOf(engine: Engine, types: readonly string[]): string[] {
  const nouns = types.flatMap((type) => engine.nouns.get(type) ?? [])
  return peopleOf(engine).flatMap(({ id }) => {
    const grant = personGrant(engine, id)
    return grant && nouns.every((noun) => may(grant, 'write', noun)) ? [id] : []
  })
}

function noteAssignments(write: Write, event: Parameters<TransactionListener>[1], id: string): void {
  const { type, data, previous, version, actor } = event
  const fields = write.engine.nouns.get(type)?.fields
  const state = JSON.parse(data!) as JsonObject
  const before = previous === null ? null : (JSON.parse(previous) as JsonObject)
  for (const name of ASSIGNED) {
    const user = state[name]
    const isChanged = version === 1 || (before !== null && Object.hasOwn(before, name) && before[name] !== user)
    if (fields?.[name]?.kind !== 'forward' || typeof user !== 'string' || !isChanged) continue
    if (user.startsWith('user_')) notify(write, { user, kind: 'assigned', type, entity: id, by: actor })
  }
}

/** Tells those whom a question is for. */
export function noteAsk(write: Write, id: string, of: string): void {
  const people = of.startsWith('role:')
    ? peopleOf(write.engine).filter(({ role }) => `role:${role}` === of)
    : [{ id: of }]
  for (const { id: user } of people)
    notify(write, { user, kind: 'ask', type: 'Ask', entity: id, by: write.grant.actor })
}

function notify(
  write: Write,
  notice: { readonly user: string; readonly kind: NoticeKind } & Pick<NoticeRow, 'type' | 'entity' | 'by'>,
): void {
  const { engine, sql, context } = write
  const { user, kind, by } = notice
  // A person needs no notice of their own work.
  if (by === user || personGrant(engine, user) === null) return
  const at = context.clock.now()
  const time = transportOf(engine) === null ? 'never' : choicesOf(engine, user)[kind]
  const due = time === 'never' ? null : time === 'now' ? at : nextMorning(at)
  addNotice(sql, { ...notice, at, due })
  keepNotices(sql, user, MOST_KEPT)
  if (due !== null) write.wakeAt(due)
}

function nextMorning(now: number): number {
  const today = Math.floor(now / DAY) * DAY + MORNING
  return today > now ? today : today + DAY
}

/** Which notices to list: newest first, before one of them. */
export interface NoticeQuestion {
  readonly before: number
  readonly limit: number
}

/** The notices of a person that the person may still see. */
export function noticesFor(engine: Engine, user: string, { before, limit }: NoticeQuestion): JsonObject {
  const found = noticesOf(engine.sql, user, before, limit + 1)
  const shown = found.slice(0, limit)
  return {
    results: shown.flatMap((row) => noticeView(engine, row) ?? []),
    unread: countUnread(engine.sql, user),
    hasMore: found.length > limit,
    cursor: found.length > limit ? String(shown.at(-1)!.n) : null,
  }
}

export function readAll(write: Write, user: string, until: number): void {
  readNotices(write.sql, user, until, write.context.clock.now())
}

function noticeView(engine: Engine, row: NoticeRow): JsonObject | null {
  const title = titleOf(engine, row)
  if (title === null) return null
  const { n, kind, type, entity, by, at, readAt } = row
  return { id: n, kind, title, type, entity, by, at: isoOf(at), readAt: readAt === null ? null : isoOf(readAt) }
}

/** What a notice says; null when its person may not see that, or it is over. */
export function titleOf(engine: Engine, { user, kind, type, entity, by }: NoticeRow): string | null {
  const grant = personGrant(engine, user)
  if (grant === null) return null
  if (kind === 'ask') {
    const ask = askWithId(engine.sql, entity)
    const { role = null } = stateOf(engine, 'User', user)
    return ask && [user, `role:${role}`].includes(ask.of) ? `Question: ${short(ask.title)}` : null
  }
  const noun = engine.nouns.get(type)
  if (!noun || !isVisible(engine, grant, noun, entity, unlimited())) return null
  const state = stateOf(engine, type, entity)
  const who = nameOf(engine, by)
  if (kind === 'mentioned') return `${who} mentioned you: ${short(state.body)}`
  if (kind === 'assigned') return `${who} assigned the ${type} ${short(labelOf(state) ?? entity)} to you`
  return state.state === 'Open'
    ? `${who} proposes: ${short(state.title)}`
    : `${who} ${String(state.state).toLowerCase()} the changeset: ${short(state.title)}`
}

function labelOf({ name, title, subject, number }: JsonObject): Json | undefined {
  return [name, title, subject, number].find((one) => typeof one === 'string')
}

function nameOf(engine: Engine, actor: string): string {
  const { name } = actor.startsWith('user_') ? stateOf(engine, 'User', actor) : {}
  return typeof name === 'string' ? short(name) : actor
}

/** A text in one line, for a subject. */
function short(value: Json | undefined): string {
  const text = String(value ?? '').replace(/[\s\p{Cc}]+/gu, ' ')
  return text.length > MOST_TITLE ? `${text.slice(0, MOST_TITLE)}…` : text
}

function stateOf({ sql }: Engine, type: string, id: string): JsonObject {
  return JSON.parse(presentOf(sql, type, id)?.data ?? '{}') as JsonObject
}

interface Person {
  readonly id: string
  readonly role: string
}

function peopleOf(engine: Engine): readonly Person[] {
  return engine.cache.get(['User'], 'people with roles', () =>
    liveEntities(engine.sql, 'User', 0, MOST_PEOPLE).map(({ id, data }) => ({
      id,
      role: String((JSON.parse(data) as JsonObject).role ?? ''),
    })),
  )
}

function textsIn(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
