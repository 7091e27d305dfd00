import { catalogue, type Json, type JsonObject, type Noun, parseNoun } from '@tildebase/nouns'
import { BEGINNING, FORM, headAfter, isOwnType, sealedAgain } from '@tildebase/server/log'

/** The log of a tenant, as the service writes it. */
export interface TenantLog {
  readonly tenant: string
  readonly events: readonly JsonObject[]
  /** What is stored next to its events. */
  readonly beside: readonly JsonObject[]
}

/** Something that two logs do not agree on. */
export interface Conflict {
  readonly what: 'type' | 'unique' | 'id' | 'source'
  readonly type: string
  readonly message: string
}

/** The log of a line each. */
export function logOf(tenant: string, text: string): TenantLog {
  const lines = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as JsonObject]))
  return {
    tenant,
    events: lines.filter(({ seq, end }) => typeof seq === 'number' && end === undefined),
    beside: lines.filter(({ beside }) => beside !== undefined),
  }
}

/** The events of several logs in the order of time; what a fork has in common with its origin comes once. */
function merged(logs: readonly TenantLog[]): { readonly event: JsonObject; readonly log: number }[] {
  const seen = new Set<Json>()
  const all = logs.flatMap(({ events }, log) => events.map((event) => ({ event, log })))
  const once = all.filter(({ event }) => !seen.has(event.id!) && seen.add(event.id!) !== undefined)
  return once.toSorted((a, b) => Number(a.event.at) - Number(b.event.at))
}

/** All that the logs do not agree on. */
export function conflictsOf(logs: readonly TenantLog[]): Conflict[] {
  return [...typeConflicts(logs), ...entityConflicts(logs)]
}

function typesIn({ events }: TenantLog): Map<string, JsonObject> {
  const types = new Map<string, JsonObject>()
  for (const { type, verb, data } of events) {
    if (type !== 'Schema' || typeof data !== 'string') continue
    const { name, notation } = JSON.parse(data)
    if (verb === 'delete') types.delete(name)
    else types.set(name, notation)
  }
  return types
}

function typeConflicts(logs: readonly TenantLog[]): Conflict[] {
  const known = new Map<string, { readonly tenant: string; readonly text: string }>()
  return logs.flatMap((log) =>
    [...typesIn(log)].flatMap(([type, notation]): Conflict[] => {
      const text = JSON.stringify(Object.entries(notation).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      const other = known.get(type)
      if (!other) known.set(type, { tenant: log.tenant, text })
      if (!other || other.text === text) return []
      return [{ what: 'type', type, message: `${other.tenant} and ${log.tenant} declare ${type} differently.` }]
    }),
  )
}

/** Goes through all logs in the order of time, and finds what two of them have, but only one can. */
function entityConflicts(logs: readonly TenantLog[]): Conflict[] {
  const conflicts = new Map<string, Conflict>()
  const uniques = uniqueFields(logs)
  const owners = new Map<string, number>()
  /** Which entity has a source, or a unique value, by `Type field value`. */
  const holders = new Map<string, { readonly entity: string; readonly log: number }>()
  const held = new Map<string, string[]>()
  const note = (key: string, conflict: Conflict) => conflicts.set(key, conflict)
  for (const { event, log } of merged(logs)) {
    const [type, entity] = [String(event.type), String(event.entity)]
    if (isOwnType(type) || type === 'Event') continue
    const owner = owners.get(entity)
    if (owner === undefined) owners.set(entity, log)
    else if (owner !== log) {
      const message = `${logs[owner]!.tenant} and ${logs[log]!.tenant} both have ${entity}.`
      note(`id ${entity}`, { what: 'id', type, message })
    }
    for (const key of held.get(entity) ?? []) holders.delete(key)
    const state =
      event.verb === 'delete' || typeof event.data !== 'string' ? {} : (JSON.parse(event.data) as JsonObject)
    const sources = Array.isArray(state.$source) ? state.$source.map((one) => ['$source', String(one)] as const) : []
    const values = (uniques.get(type) ?? []).flatMap((field) =>
      state[field] === undefined || state[field] === null ? [] : [[field, JSON.stringify(state[field])] as const],
    )
    const keys = [...sources, ...values].map(([field, value]) => ({ field, value, key: `${type} ${field} ${value}` }))
    for (const { field, value, key } of keys) {
      const holder = holders.get(key)
      if (holder && holder.entity !== entity && holder.log !== log) {
        const message = `${holder.entity} of ${logs[holder.log]!.tenant} and ${entity} of ${logs[log]!.tenant} both have the ${field} ${value}.`
        note(key, { what: field === '$source' ? 'source' : 'unique', type, message })
      } else holders.set(key, { entity, log })
    }
    held.set(
      entity,
      keys.flatMap(({ key }) => (holders.get(key)?.entity === entity ? [key] : [])),
    )
  }
  return [...conflicts.values()]
}

/** The unique fields of each type. */
function uniqueFields(logs: readonly TenantLog[]): Map<string, readonly string[]> {
  const found = new Map<string, readonly string[]>()
  const uniqueIn = ({ fields }: Noun) =>
    Object.values(fields).flatMap((field) => ('index' in field && field.index === 'unique' ? [field.name] : []))
  for (const noun of Object.values(catalogue)) found.set(noun.name, uniqueIn(noun))
  for (const log of logs) {
    for (const [name, notation] of typesIn(log)) {
      const known = found.get(name) ?? []
      found.set(name, [...new Set([...known, ...uniqueIn(parseNoun(name, notation, { domain: 'custom' }))])])
    }
  }
  return found
}

/** Tables next to the log that a new tenant takes from the first one: what people and keys sign in with, and authors. */
const TAKEN = ['keys', 'credentials', 'clients', 'consents', 'receivers', 'authors', 'workflows', 'secrets']
/** The column with the seq of an event, which is another one here. */
const SEQ_COLUMN: { readonly [table: string]: number } = { authors: 3, workflows: 2 }

/**
 * The lines of a log with the events of all. Those of the service's own types come first, with their own times: all of the
 * first log, and the types and erasures of the others. Then everything else in the order of time, recorded now.
 */
export function* mergedLog(logs: readonly TenantLog[], into: string, now: number): Generator<string> {
  const isKept = ({ event, log }: { event: JsonObject; log: number }) =>
    !isOwnType(String(event.type)) ||
    log === 0 ||
    event.type === 'Erasure' ||
    (event.type === 'Schema' && isFirst(logs, log, event))
  const events = merged(logs).filter(isKept)
  const own = events.filter(({ event }) => isOwnType(String(event.type)))
  const others = events.filter(({ event }) => !isOwnType(String(event.type)))
  const places = new Map<Json, number>()
  let head = BEGINNING
  yield line({ tildebase: 'log', form: FORM, tenant: into, after: 0 })
  for (const { event, log } of [...own, ...others]) {
    const { recordedAt: _, ...row } = event
    const sealed = sealedAgain(head, isOwnType(String(event.type)) ? row : { ...row, recordedAt: now })
    if (log === 0) places.set(event.seq!, Number(sealed.seq))
    head = headAfter(head, sealed)
    yield line(sealed)
  }
  for (const one of logs[0]!.beside) {
    const { beside: table, row } = one as { beside: string; row: Json[] }
    if (!TAKEN.includes(table)) continue
    const column = SEQ_COLUMN[table]
    yield line({ beside: table, row: row.map((cell, i) => (i === column ? (places.get(cell) ?? 0) : cell)) })
  }
  yield line({ end: true, seq: head.seq, hash: Buffer.from(head.hash).toString('hex') })
}

/** Whether no log before this one has the type of a declaration. */
function isFirst(logs: readonly TenantLog[], log: number, { data }: JsonObject): boolean {
  const { name } = JSON.parse(String(data ?? '{}'))
  return !logs.slice(0, log).some((other) => typesIn(other).has(name))
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`
}
