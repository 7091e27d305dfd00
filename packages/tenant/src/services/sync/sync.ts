import { isoOf, isPlainObject, Problem, parseInstant } from '@tildebase/nouns'
import { type Engine, timeOf } from '../../engine/engine.ts'
import type { Steps } from '../../engine/turns.ts'
import { INTERNAL_TYPES } from '../../engine/types.ts'
import { demandUnlimited, type Grant } from '../../grant/grant.ts'
import { limitOf } from '../../query/parameters/limits.ts'
import { mayReadEvents } from '../../query/read-context.ts'
import { recordedSeqAt, seqAt } from '../../store/log/log.ts'
import { getMeta, setMeta } from '../../store/meta.ts'
import { computingOnce } from '../../write/verb.ts'
import type { Write } from '../../write/write.ts'
import { type ServerChange, serverChanges } from './answer.ts'
import { isSynced } from './apply.ts'
import { applyAll } from './apply-all.ts'
import { changeOf } from './change.ts'
import type { SyncSession } from './sync-session.ts'
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

/** Takes the changes of a replica and answers with those of all others. */
export function* sync(write: Write, body: unknown): Steps<Synced> {
  const { engine, grant } = write
  demandUnlimited(grant)
  if (!grant.scopes.some(({ action }) => action === 'write' || action === 'admin')) {
    throw new Problem('forbidden', 'This key has no write access. A sync needs write on some area.')
  }
  const request = requestOf(engine, grant, body)
  const session: SyncSession = { write, lastSyncAt: request.lastSyncAt }
  const since = request.lastSyncAt === null ? 0 : seqAt(engine.sql, engine.head, request.lastSyncAt)
  const recorded = request.lastSyncAt === null ? 0 : recordedSeqAt(engine.sql, engine.head, request.lastSyncAt)
  const given = request.changes.map((value, index) => ({ index, read: () => changeOf(value, request.replica) }))
  const { applied, conflicts, rejected, taken } = yield* computingOnce(write, (write) =>
    applyAll({ ...session, write }, given),
  )
  const wanted = (type: string) =>
    isSynced(type) && !INTERNAL_TYPES.get(type) && request.types(type) && mayReadEvents(engine, grant, type)
  const { touched, hasMore, until } = yield* stretchAfter(write, since, recorded, request.limit, wanted)
  const syncedAt = until ?? giveOut(write)
  const changes = yield* serverChanges(session, touched, taken, since)
  return { success: true, applied, conflicts, rejected, serverChanges: changes, syncedAt: isoOf(syncedAt), hasMore }
}

/** The time, kept over restarts, at or before which nothing may be written any more. */
export function syncedUntil(engine: Engine): number {
  return Number(getMeta(engine.sql, FLOOR) ?? 0)
}

/** Returns the time up to which everything has been sent: from now on every event is later. */
function giveOut({ engine, context }: Write): number {
  engine.syncedUntil = Math.max(timeOf(context.clock), engine.head.at, engine.syncedUntil)
  setMeta(engine.sql, FLOOR, String(engine.syncedUntil))
  return engine.syncedUntil
}

interface Request {
  readonly lastSyncAt: number | null
  readonly changes: readonly unknown[]
  readonly replica: string
  readonly types: (type: string) => boolean
  readonly limit: number
}

function requestOf(engine: Engine, grant: Grant, body: unknown): Request {
  if (!isPlainObject(body)) throw wrong('Send a JSON object with lastSyncAt and changes.')
  const { lastSyncAt = null, changes = [], replica = grant.actor, types } = body
  const at = typeof lastSyncAt === 'string' ? parseInstant(lastSyncAt) : null
  if (lastSyncAt !== null && at === null)
    throw wrong('lastSyncAt must be the syncedAt of your last sync.', 'lastSyncAt')
  if (!Array.isArray(changes)) throw wrong('changes must be a list.', 'changes')
  if (changes.length > MOST_CHANGES) {
    throw new Problem('too_many', `A sync may have at most ${MOST_CHANGES} changes. Send them in several requests.`, {
      field: 'changes',
      limit: MOST_CHANGES,
    })
  }
  if (typeof replica !== 'string' || !/^\S{1,128}$/.test(replica)) {
    throw wrong('replica must be an id of 1 to 128 characters without spaces.', 'replica')
  }
  const names = typesOf(engine, types)
  return {
    lastSyncAt: at,
    changes,
    replica,
    types: (type) => names === null || names.has(type),
    limit: body.limit === undefined ? PAGE : limitOf(body.limit, MOST_CHANGES),
  }
}

/** The types that the client requests, or null for all. */
function typesOf(engine: Engine, types: unknown): ReadonlySet<string> | null {
  if (types === undefined || types === null) return null
  if (!Array.isArray(types) || !types.every((name) => typeof name === 'string')) {
    throw wrong('types must be a list of type names.', 'types')
  }
  return new Set(types.map((name) => engine.noun(name).name))
}

function wrong(message: string, field?: string): Problem {
  return new Problem('invalid_parameter', message, field === undefined ? {} : { field })
}
