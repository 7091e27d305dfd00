import { isoOf, type Json, type JsonObject, sameJson } from '@tildebase/nouns'
import type { Steps } from '../../engine/turns.ts'
import { isNarrowed } from '../../grant/grant.ts'
import { get } from '../../query/answer/find.ts'
import { readContextOf } from '../../query/read-context.ts'
import { visibilityOf } from '../../query/rights/visibility.ts'
import { visibleAmong } from '../../query/rights/visible-entity.ts'
import { type Current, currentOf } from '../../store/entities.ts'
import { readEntryOf } from '../../store/log/log.ts'
import type { Change, SyncOperation } from './change.ts'
import { EXISTENCE, type Register, registersOf } from './register.ts'
import { type SyncSession, wasSeenLast } from './sync-session.ts'
import { type Touched, touchedOf } from './touched.ts'
import { joined, type VectorClock } from './vector-clock.ts'

/** A change as the answer tells it. */
export interface ServerChange {
  readonly type: string
  readonly id: string
  readonly operation: SyncOperation
  readonly data: JsonObject
  /** When the change was made that decided. */
  readonly timestamp: string
  readonly clock: VectorClock
}

/** So many entities are looked at together. */
const PART = 20

/** What a request said of an entity: its last word on every field, or that it is deleted. */
interface Said {
  readonly fields: Map<string, { readonly value: Json; readonly at: number; readonly replica: string }>
  isDeleted: boolean
}

/**
 * The changes to tell: what was touched since, and all in which the server differs from what the request said; without
 * what the request itself brought about unchanged. A client that applies its own changes, and then these, has the
 * server's state.
 */
export function* serverChanges(
  session: SyncSession,
  touched: Map<string, Touched>,
  taken: readonly Change[],
  since: number,
): Steps<ServerChange[]> {
  const said = new Map<string, Said>()
  for (const change of taken) {
    say(said, change)
    touchedOf(touched, session.write.engine.noun(change.type).name, change.id)
  }
  const changes: ServerChange[] = []
  const entries = [...touched.values()]
  for (let i = 0; i < entries.length; i += PART) {
    const part = entries.slice(i, i + PART)
    const visible = visibleIn(session, part)
    for (const entry of part) {
      const change = changeFor(session, entry, said.get(entry.id), since, visible)
      if (change) changes.push(change)
      yield
    }
  }
  return changes
}

/** The ids of those entities that a narrowed grant sees; null when it sees all that it is asked about. */
function visibleIn({ write: { engine, grant } }: SyncSession, part: readonly Touched[]): ReadonlySet<string> | null {
  if (!isNarrowed(grant)) return null
  const types = Map.groupBy(part, ({ type }) => type)
  const visible = [...types].flatMap(([type, some]) => {
    const noun = engine.nouns.get(type)
    return noun?.storage === 'entity'
      ? [
          ...visibleAmong(
            engine,
            grant,
            noun,
            some.map(({ id }) => id),
          ),
        ]
      : []
  })
  return new Set(visible)
}

function say(said: Map<string, Said>, { id, operation, data, at, replica }: Change): void {
  const entry = said.get(id) ?? { fields: new Map(), isDeleted: false }
  said.set(id, entry)
  entry.isDeleted = operation === 'delete'
  if (entry.isDeleted) entry.fields.clear()
  else for (const [field, value] of Object.entries(data)) entry.fields.set(field, { value, at, replica })
}

function changeFor(
  session: SyncSession,
  touched: Touched,
  said: Said | undefined,
  since: number,
  visible: ReadonlySet<string> | null,
): ServerChange | null {
  const { engine } = session.write
  const current = currentOf(engine.sql, touched.type, touched.id)
  if (!current)
    return engine.nouns.get(touched.type)?.storage === 'log' && !said ? trackedEvent(session, touched.id) : null
  const hidden = visible !== null && !(current.deleted ? wasSeenLast(session, current) : visible.has(current.id))
  if (current.deleted || hidden) {
    if (said?.isDeleted || (hidden && !wasSeen(session, current, since))) return null
    const register = registersOf(engine, current, []).get(EXISTENCE)!
    return told(current, 'delete', {}, [register])
  }
  const state = JSON.parse(current.data) as JsonObject
  const all = touched.born || said?.isDeleted === true
  const concerned = [...(all ? Object.keys(state) : touched.fields), ...(said?.fields.keys() ?? [])]
  const fields = [...new Set(concerned)].filter((field) => !isMeta(field))
  const registers = registersOf(engine, current, fields)
  const touchedBy = (field: string) => touched.born || touched.fields.has(field)
  const news = fields.filter((field) => {
    const own = said?.fields.get(field)
    if (!own || !sameJson(own.value, valueIn(state, field))) return true
    // The client already has this value; changes of others are still sent.
    return touchedBy(field) && !isOf(own, registers.get(field))
  })
  if (news.length === 0) return null
  const data = Object.fromEntries(news.map((field) => [field, valueIn(state, field)]))
  const deciding = news.flatMap((field) => registers.get(field) ?? [])
  return told(current, all && news.length === fields.length ? 'create' : 'update', data, deciding)
}

/** Whether a register goes back to what was said. */
function isOf(own: { readonly at: number; readonly replica: string }, register: Register | undefined): boolean {
  return register?.at === own.at && register.replica === own.replica
}

/** Fields that the service answers with, and that senders send along. */
function isMeta(field: string): boolean {
  return field.startsWith('$') || field === 'createdAt' || field === 'updatedAt'
}

function told(
  { type, id }: Current,
  operation: SyncOperation,
  data: JsonObject,
  registers: readonly Register[],
): ServerChange {
  const at = registers.reduce((latest, register) => Math.max(latest, register.at), 0)
  return { type, id, operation, data, timestamp: isoOf(at), clock: joined(registers.map(({ clock }) => clock)) }
}

/** A tracked event, if the grant sees its record. */
function trackedEvent({ write: { engine, grant } }: SyncSession, id: string): ServerChange | null {
  const record = readEntryOf(engine.sql, id)
  const shown = record && visibilityOf(engine, grant, null).show(record)
  if (!shown || shown.data === null) return null
  return {
    type: shown.type,
    id,
    operation: 'create',
    data: JSON.parse(shown.data),
    timestamp: isoOf(shown.at),
    clock: { server: shown.seq },
  }
}

/** Whether the entity could be seen when the sender was last here: then it is deleted for them. */
function wasSeen({ write: { engine, grant }, lastSyncAt }: SyncSession, current: Current, since: number): boolean {
  if (lastSyncAt === null) return false
  return get(readContextOf(engine, grant), current.type, current.id, { asOf: since }) !== undefined
}

function valueIn(state: JsonObject, field: string): Json {
  return Object.hasOwn(state, field) ? state[field]! : null
}
