import { isoOf, type Json, type JsonObject, sameJson } from '@tildebase/nouns'
import { isNarrowed } from '../../grant/grant.ts'
import { get } from '../../query/find.ts'
import { readContextOf } from '../../query/parameters.ts'
import { type Current, currentOf } from '../../store/entities.ts'
import { readEntryOf } from '../../store/log.ts'
import { isVisible } from '../run-verb.ts'
import type { SyncSession } from './apply.ts'
import type { Change, SyncOperation } from './change.ts'
import { EXISTENCE, type Register, registersOf } from './register.ts'
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

/** What a request said of an entity: its last word on every field, or that it is gone. */
interface Said {
  readonly fields: Map<string, { readonly value: Json; readonly at: number; readonly replica: string }>
  gone: boolean
}

/**
 * The changes to tell: what was touched since, and all in which the server differs from what the request said; without
 * what the request itself brought about unchanged. Whoever takes over what it sent, and then these, has the server's state.
 */
export function serverChanges(
  visit: SyncSession,
  touched: Map<string, Touched>,
  taken: readonly Change[],
  since: number,
): ServerChange[] {
  const said = new Map<string, Said>()
  for (const change of taken) {
    say(said, change)
    touchedOf(touched, visit.tenant.noun(change.type).name, change.id)
  }
  return [...touched.values()].flatMap((entry) => changeFor(visit, entry, said.get(entry.id), since) ?? [])
}

function say(said: Map<string, Said>, { id, operation, data, at, replica }: Change): void {
  const entry = said.get(id) ?? { fields: new Map(), gone: false }
  said.set(id, entry)
  entry.gone = operation === 'delete'
  if (entry.gone) entry.fields.clear()
  else for (const [field, value] of Object.entries(data)) entry.fields.set(field, { value, at, replica })
}

function changeFor(visit: SyncSession, touched: Touched, said: Said | undefined, since: number): ServerChange | null {
  const { tenant } = visit
  const current = currentOf(tenant.sql, touched.type, touched.id)
  if (!current) return touched.type === 'Event' && !said ? trackedEvent(visit, touched.id) : null
  const hidden = isNarrowed(visit.grant) && !current.deleted && !isSeen(visit, current)
  if (current.deleted || hidden) {
    if (said?.gone || (hidden && !wasSeen(visit, current, since))) return null
    const register = registersOf(tenant, current, []).get(EXISTENCE)!
    return told(current, 'delete', {}, [register])
  }
  const state = JSON.parse(current.data) as JsonObject
  const all = touched.born || said?.gone === true
  const concerned = [...(all ? Object.keys(state) : touched.fields), ...(said?.fields.keys() ?? [])]
  const fields = [...new Set(concerned)].filter((field) => !isMeta(field))
  const registers = registersOf(tenant, current, fields)
  const touchedBy = (field: string) => touched.born || touched.fields.has(field)
  const news = fields.filter((field) => {
    const own = said?.fields.get(field)
    if (!own || !sameJson(own.value, valueIn(state, field))) return true
    // The sender has this value already; what others have brought is told all the same.
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

function trackedEvent({ tenant }: SyncSession, id: string): ServerChange | null {
  const row = readEntryOf(tenant.sql, id)
  if (!row || row.data === null) return null
  return {
    type: 'Event',
    id,
    operation: 'create',
    data: JSON.parse(row.data),
    timestamp: isoOf(row.at),
    clock: { server: row.seq },
  }
}

function isSeen({ tenant, grant }: SyncSession, current: Current): boolean {
  return isVisible(tenant, grant, tenant.noun(current.type), current.id)
}

/** Whether the entity could be seen when the sender was last here: then it is gone for them. */
function wasSeen({ tenant, grant, lastSyncAt }: SyncSession, current: Current, since: number): boolean {
  if (lastSyncAt === null) return false
  return get(readContextOf(tenant, grant), current.type, current.id, { asOf: since }) !== undefined
}

function valueIn(state: JsonObject, field: string): Json {
  return Object.hasOwn(state, field) ? state[field]! : null
}
