import { isoOf, isPlainObject, Problem, parseInstant } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { limitOf, readable } from '../../query/parameters.ts'
import { seqAt } from '../../store/log.ts'
import { getMeta, setMeta } from '../../store/meta.ts'
import { INTERNAL } from '../schema.ts'
import { type ServerChange, serverChanges } from './answer.ts'
import { isSynced, type SyncSession } from './apply.ts'
import { applyAll } from './apply-all.ts'
import { changeOf } from './change.ts'
import { stretchAfter } from './touched.ts'

/** The answer to a sync. */
export interface Synced {
  readonly success: boolean
  readonly applied: number
  readonly conflicts: number
  readonly rejected: readonly { readonly index: number; readonly error: string }[]
  readonly serverChanges: readonly ServerChange[]
  readonly syncedAt: string
  readonly hasMore: boolean
}

const MOST_CHANGES = 10_000
const PAGE = 1_000
const FLOOR = 'sync.floor'

/** Takes the changes of a replica and tells those of all others. Call inside a transaction. */
export function sync(tenant: Engine, grant: Grant, body: unknown, correlation: string | null = null): Synced {
  const request = requestOf(tenant, grant, body)
  const visit: SyncSession = { tenant, grant, lastSyncAt: request.lastSyncAt, correlation }
  const since = request.lastSyncAt === null ? 0 : seqAt(tenant.sql, tenant.head, request.lastSyncAt)
  const given = request.changes.map((value, index) => ({ index, read: () => changeOf(value, request.replica) }))
  const { applied, conflicts, rejected, taken } = applyAll(visit, given)
  const wanted = (type: string) =>
    isSynced(type) && !INTERNAL.get(type) && request.types(type) && readable(tenant, grant, type)
  const { touched, hasMore, until } = stretchAfter(tenant, since, request.limit, wanted)
  const syncedAt = until ?? giveOut(tenant)
  const told = serverChanges(visit, touched, taken, since)
  return { success: true, applied, conflicts, rejected, serverChanges: told, syncedAt: isoOf(syncedAt), hasMore }
}

/** Takes up again, at the opening of a tenant, below which time nothing may be written any more. */
export function floorOf(tenant: Engine): number {
  return Number(getMeta(tenant.sql, FLOOR) ?? 0)
}

/** Gives out the time up to which everything has been told: from now on every event is later. */
function giveOut(tenant: Engine): number {
  tenant.floor = Math.max(tenant.ports.clock.now(), tenant.head.at, tenant.floor)
  setMeta(tenant.sql, FLOOR, String(tenant.floor))
  return tenant.floor
}

interface Request {
  readonly lastSyncAt: number | null
  readonly changes: readonly unknown[]
  readonly replica: string
  readonly types: (type: string) => boolean
  readonly limit: number
}

function requestOf(tenant: Engine, grant: Grant, body: unknown): Request {
  if (!isPlainObject(body)) throw wrong('Send a JSON object with lastSyncAt and changes.')
  const { lastSyncAt = null, changes = [], replica = grant.actor, types } = body
  const at = typeof lastSyncAt === 'string' ? parseInstant(lastSyncAt) : null
  if (lastSyncAt !== null && at === null) throw wrong('lastSyncAt is the syncedAt of your last sync.', 'lastSyncAt')
  if (!Array.isArray(changes)) throw wrong('changes is a list.', 'changes')
  if (changes.length > MOST_CHANGES) {
    throw new Problem('too_many', `A sync takes ${MOST_CHANGES} changes. Send them in several requests.`, {
      field: 'changes',
      limit: MOST_CHANGES,
    })
  }
  if (typeof replica !== 'string' || !/^\S{1,128}$/.test(replica)) {
    throw wrong('replica is an id of 1 to 128 characters without spaces.', 'replica')
  }
  const names = typesOf(tenant, types)
  return {
    lastSyncAt: at,
    changes,
    replica,
    types: (type) => names === null || names.has(type),
    limit: body.limit === undefined ? PAGE : limitOf(body.limit, MOST_CHANGES),
  }
}

/** The types that the sender wants to hear of, or null for all. */
function typesOf(tenant: Engine, types: unknown): ReadonlySet<string> | null {
  if (types === undefined || types === null) return null
  if (!Array.isArray(types) || !types.every((name) => typeof name === 'string')) {
    throw wrong('types is a list of type names.', 'types')
  }
  return new Set(types.map((name) => tenant.noun(name).name))
}

function wrong(message: string, field?: string): Problem {
  return new Problem('invalid_parameter', message, field === undefined ? {} : { field })
}
