import { isoOf, type Json, type JsonObject, type Noun, Problem, parseInstant } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { type Grant, isNarrowed, rowsOf } from '../grant/grant.ts'
import { find, withId } from '../query/find.ts'
import { readContextOf } from '../query/parameters.ts'
import { type Current, currentOf } from '../store/entities.ts'
import { type LogRow, readEntries, seqAt } from '../store/log.ts'
import { seqsOf } from '../store/versions.ts'
import { changes } from '../write/execute.ts'
import { notFound } from '../write/verb.ts'

/** One version of an entity: what it was, who made it so, and by which verb. */
export interface Version {
  readonly version: number
  readonly seq: number
  readonly timestamp: string
  readonly verb: string
  readonly event: string
  readonly actor: string
  readonly correlation: string | null
  /** The state after; null once it was erased. */
  readonly data: JsonObject | null
  /** The changed fields with their values before. */
  readonly previous: JsonObject | null
}

/** The versions of an entity, deleted ones included, newest first. */
export function history(tenant: Engine, grant: Grant, noun: Noun, id: string, limit: number, before: number | null) {
  const current = knownTo(tenant, grant, noun, id)
  const seqs = seqsOf(tenant.sql, current.ordinal)
  const left = before === null ? seqs : seqs.filter((seq) => seq < before)
  const page = left.slice(0, limit)
  const hasMore = left.length > limit
  return {
    results: readEntries(tenant.sql, page).map(versionOf),
    total: seqs.length,
    hasMore,
    cursor: hasMore ? String(page.at(-1)) : null,
  }
}

/** What changed between two versions, or between two times, of an entity. */
export function diff(tenant: Engine, grant: Grant, noun: Noun, id: string, from: string, to: string) {
  const current = knownTo(tenant, grant, noun, id)
  const versions = readEntries(tenant.sql, seqsOf(tenant.sql, current.ordinal))
  const a = versionAt(tenant, noun, versions, from, 'from')
  const b = versionAt(tenant, noun, versions, to, 'to')
  const [before, after] = [stateIn(a), stateIn(b)]
  const fields = Object.keys({ ...changes(before, after), ...changes(after, before) })
  return {
    from: summary(a),
    to: summary(b),
    changes: fields.map((field) => ({ field, from: before[field] ?? null, to: after[field] ?? null })) as Json,
  }
}

function versionOf(row: LogRow): Version {
  const { version, seq, at, verb, event, actor, correlation, data, previous } = row
  return {
    version,
    seq,
    timestamp: isoOf(at),
    verb,
    event,
    actor,
    correlation,
    data: parsed(data),
    previous: parsed(previous),
  }
}

/** The version that a number or a time means; null before the entity was there. */
function versionAt(
  tenant: Engine,
  noun: Noun,
  versions: readonly LogRow[],
  text: string,
  field: string,
): LogRow | null {
  if (/^\d{1,9}$/.test(text)) {
    const found = versions.find(({ version }) => version === Number(text))
    if (found) return found
    throw new Problem('not_found', `This ${noun.name} has no version ${text}.`, { type: noun.name, field })
  }
  const at = parseInstant(text)
  if (at === null) {
    throw new Problem('invalid_version', `${field} is a version number or an ISO 8601 time.`, {
      type: noun.name,
      field,
    })
  }
  const seq = seqAt(tenant.sql, tenant.head, at)
  return versions.find((row) => row.seq <= seq) ?? null
}

function stateIn(row: LogRow | null): JsonObject {
  return row === null || row.verb === 'delete' ? {} : (parsed(row.data) ?? {})
}

function summary(row: LogRow | null): Json {
  return row && { version: row.version, timestamp: isoOf(row.at), verb: row.verb, actor: row.actor }
}

/** The entity, also when it is deleted, if the grant's rows hold it. */
function knownTo(tenant: Engine, grant: Grant, noun: Noun, id: string): Current {
  const current = currentOf(tenant.sql, noun.name, id)
  if (!current) throw notFound(noun.name, id)
  const rows = isNarrowed(grant) ? rowsOf(tenant, grant, noun.name) : null
  if (rows === null) return current
  // A deleted row is judged by its last state.
  const moment = current.deleted ? current.seq - 1 : current.seq
  const shown = find(readContextOf(tenant, grant), {
    type: noun.name,
    asOf: moment,
    limit: 1,
    total: false,
    filter: withId(id),
  })
  if (shown.results.length === 0) throw notFound(noun.name, id)
  return current
}

function parsed(text: string | null): JsonObject | null {
  return text === null ? null : JSON.parse(text)
}
