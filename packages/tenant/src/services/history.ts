import { isoOf, type Json, type JsonObject, type Noun, Problem, resolveInstant } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import type { Grant } from '../grant/grant.ts'
import { get } from '../query/answer/find.ts'
import { readContextOf, rowFilterOf } from '../query/read-context.ts'
import { visibilityOf } from '../query/rights/visibility.ts'
import { currentOf } from '../store/entities.ts'
import {
  eachEntry,
  type LogRow,
  readEntries,
  readEntry,
  readSizes,
  seqOfTypeAt,
  seqOfVersion,
} from '../store/log/log.ts'
import { fitting } from '../store/log/parts.ts'
import { seqsOf } from '../store/log/versions.ts'
import { changes } from '../write/state.ts'
import { notFound } from '../write/verb.ts'

/** One version of an entity: what it was, who made it so, and by which verb. */
interface Version {
  readonly version: number
  readonly seq: number
  readonly timestamp: string
  /** When a change of an imported past was recorded; absent otherwise. */
  readonly recordedAt?: string
  readonly verb: string
  readonly event: string
  readonly actor: string
  /** The actor on whose behalf this actor acted; absent if there is none. */
  readonly onBehalfOf?: string
  readonly correlation: string | null
  /** The state after; null once it was erased. */
  readonly data: JsonObject | null
  /** The changed fields with their values before. */
  readonly previous: JsonObject | null
  /** The arguments of the verb; null when it had none. */
  readonly args: JsonObject | null
}

/** A page of the versions of an entity. */
export interface VersionPage {
  readonly results: readonly Version[]
  readonly total: number
  readonly hasMore: boolean
  readonly cursor: string | null
}

/** The versions of an entity that a grant sees, also when it is deleted, newest first. A page of large ones has fewer. */
export function history(
  engine: Engine,
  grant: Grant,
  noun: Noun,
  id: string,
  limit: number,
  before: number | null,
): VersionPage {
  if (noun.storage === 'log') return onlyVersion(engine, grant, noun, id, before)
  const seqs = visibleSeqs(engine, grant, noun, id)
  const left = before === null ? seqs : seqs.filter((seq) => seq < before)
  const most = left.slice(0, limit)
  const page = most.slice(0, fitting(readSizes(engine.sql, most)))
  const hasMore = left.length > page.length
  const { show } = visibilityOf(engine, grant, null)
  return {
    results: readEntries(engine.sql, page)
      .flatMap((record) => show(record) ?? [])
      .map(versionOf),
    total: seqs.length,
    hasMore,
    cursor: hasMore ? String(page.at(-1)) : null,
  }
}

/** An Event never changes: its only version is the one that was created. */
function onlyVersion(engine: Engine, grant: Grant, noun: Noun, id: string, before: number | null): VersionPage {
  const event = get(readContextOf(engine, grant), noun.name, id)
  if (event === undefined) throw notFound(noun.name, id)
  const row = versionOf(readEntry(engine.sql, event.ordinal)!)
  const created = { version: event.version, verb: 'create', event: 'created', data: parsed(event.data) }
  const version = { ...row, ...created, previous: null, args: null }
  const isLeft = before === null || version.seq < before
  return { results: isLeft ? [version] : [], total: 1, hasMore: false, cursor: null }
}

/** What changed between two versions, or between two times, of an entity. */
export function diff(engine: Engine, grant: Grant, noun: Noun, id: string, from: string, to: string): JsonObject {
  const seqs = visibleSeqs(engine, grant, noun, id)
  const { show } = visibilityOf(engine, grant, null)
  const [a, b] = [versionAt(engine, noun, seqs, from, 'from'), versionAt(engine, noun, seqs, to, 'to')].map((seq) =>
    seq === null ? null : show(readEntry(engine.sql, seq)!),
  ) as [LogRow | null, LogRow | null]
  const [before, after] = [stateIn(a), stateIn(b)]
  const fields = Object.keys({ ...changes(before, after), ...changes(after, before) })
  return {
    from: summary(a),
    to: summary(b),
    changes: fields.map((field) => ({ field, from: before[field] ?? null, to: after[field] ?? null })),
  }
}

/** The seqs of an entity's records that the grant sees, newest first. Without any, the entity does not exist for it. */
function visibleSeqs(engine: Engine, grant: Grant, noun: Noun, id: string): readonly number[] {
  const current = currentOf(engine.sql, noun.name, id)
  const seqs = current ? seqsOf(engine.sql, current.ordinal) : []
  const { show } = visibilityOf(engine, grant, null)
  const seen = rowFilterOf(engine, grant, noun.name)
    ? eachEntry(engine.sql, seqs)
        .filter((record) => show(record) !== null)
        .map(({ seq }) => seq)
        .toArray()
    : seqs
  if (seen.length === 0) throw notFound(noun.name, id)
  return seen
}

function versionOf(row: LogRow): Version {
  const { version, seq, at, recordedAt, verb, event, actor, onBehalfOf, correlation, data, previous, args } = row
  return {
    version,
    seq,
    timestamp: isoOf(at),
    ...(recordedAt !== null && { recordedAt: isoOf(recordedAt) }),
    verb,
    event,
    actor,
    ...(onBehalfOf && { onBehalfOf }),
    correlation,
    data: parsed(data),
    previous: parsed(previous),
    args: parsed(args),
  }
}

/** The event of the version that a number or a time means; null before the entity existed. */
function versionAt(engine: Engine, noun: Noun, seqs: readonly number[], text: string, field: string): number | null {
  if (/^\d{1,9}$/.test(text)) {
    const found = seqOfVersion(engine.sql, seqs, Number(text))
    if (found !== null) return found
    throw new Problem('not_found', `This ${noun.name} has no version ${text}.`, { type: noun.name, field })
  }
  const at = resolveInstant(text, engine.nextTime())
  if (at === null) {
    throw new Problem(
      'invalid_version',
      `${field} must be a version number, an ISO 8601 time, or now, today or 7d ago.`,
      {
        type: noun.name,
        field,
      },
    )
  }
  const seq = seqOfTypeAt(engine.sql, engine.head, noun.name, at)
  return seqs.find((one) => one <= seq) ?? null
}

function stateIn(row: LogRow | null): JsonObject {
  return row === null || row.verb === 'delete' ? {} : (parsed(row.data) ?? {})
}

function summary(row: LogRow | null): Json {
  return row && { version: row.version, timestamp: isoOf(row.at), verb: row.verb, actor: row.actor }
}

function parsed(text: string | null): JsonObject | null {
  return text === null ? null : JSON.parse(text)
}
