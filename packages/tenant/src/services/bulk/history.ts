import {
  checkArguments,
  checkDraft,
  checkPatch,
  isComputed,
  isoOf,
  type Json,
  type JsonObject,
  type Noun,
  Problem,
  SOURCE,
  sameJson,
} from '@tildebase/nouns'
import { demandAll, isAgents } from '../../grant/grant.ts'
import { isId } from '../../ids.ts'
import { currentOf } from '../../store/entities.ts'
import { hasEntry, isOwnType, readEntry } from '../../store/log/log.ts'
import { seqsOfVerbAt } from '../../store/log/versions.ts'
import { argumentsText } from '../../write/state.ts'
import { applyVerb, verbOf } from '../../write/verb.ts'
import type { Write } from '../../write/write.ts'
import { idFrom, type PastChange, pastChangeOf, withIds, wrong } from './history-row.ts'
import type { ImportCounts, ImportDetail, RowImporter } from './import.ts'
import type { ImportRow } from './import-row.ts'

/** A row, and the entity that it names. */
interface Known {
  readonly change: PastChange
  readonly noun: Noun
  /** The id of the entity; undefined if the row names none that there is, or may be. */
  readonly id: string | undefined
  /** Whether an entity has the source of the row. */
  readonly isSourceKnown: boolean
}

/**
 * Imports a past slice by slice: each row an event with the time at which it happened. Rows come in the order of time, and
 * none may be before what the tenant has. Nothing automatic follows from them.
 */
export class HistoryImporter implements RowImporter {
  /** Imports a slice. Count what it returns once the write is durable. */
  take(write: Write, rows: readonly ImportRow[]): ImportCounts {
    // The past of an entity is also that of the time in which a row filter hid it.
    demandAll(write.grant, 'Importing a past')
    const counts = { imported: 0, updated: 0, repeated: 0, details: [] as ImportDetail[], waiting: [], warnings: [] }
    for (const row of rows) {
      if ('error' in row) counts.details.push(detailOf(row, `The row ${row.error}.`))
      else this.#attempt(write, row, counts)
    }
    return counts
  }

  /** No row waits for a later one: a past is in the order of time. */
  settle(): null {
    return null
  }

  get isFull(): boolean {
    return false
  }

  get waiting(): readonly number[] {
    return []
  }

  #attempt(write: Write, row: ImportRow & { value: unknown }, counts: ImportCounts & { repeated: number }): void {
    try {
      const known = knownOf(write, pastChangeOf(row.value))
      if (isRepeated(write, known)) counts.repeated++
      else if (!isNext(write, known.change.at)) counts.details.push(outOfOrder(write, row))
      else {
        write.attempt(() => record(write, known))
        counts.imported++
      }
    } catch (reason) {
      if (!(reason instanceof Problem) || reason.code === 'over_budget') throw reason
      counts.details.push(detailOf(row, reason.message))
    }
  }
}

function knownOf({ engine }: Write, change: PastChange): Known {
  const noun = engine.noun(change.type)
  refuseType(noun)
  const { id, source } = change
  if (id !== null && !isId(id, noun.prefix)) {
    throw wrong(
      `${id} is not the id of a ${noun.name}: it must begin with ${noun.prefix}_, then letters and digits.`,
      'id',
    )
  }
  if (source !== null && noun.storage === 'log') throw wrong(`${noun.name} has no source. Use id.`, 'source')
  const from = source === null ? undefined : idFrom(engine, noun.name, source)
  if (id !== null && from !== undefined && from !== id) {
    throw new Problem('conflict', `The source ${source} is that of ${from}, not of ${id}.`, {
      type: noun.name,
      field: 'source',
    })
  }
  return { change, noun, id: id ?? from, isSourceKnown: from !== undefined }
}

/** Whether the log has this change: the same entity, verb, time and data. */
function isRepeated(write: Write, { change, noun, id }: Known): boolean {
  const { sql, engine } = write
  const { at, verb } = change
  // Nothing is in the log that is later than its newest event.
  if (id === undefined || at > engine.head.happenedAt) return false
  if (noun.storage === 'log') return hasEntry(sql, id)
  const current = currentOf(sql, noun.name, id)
  if (!current || at > current.updatedAt || at < current.createdAt) return false
  const events = seqsOfVerbAt(sql, current.ordinal, verb, at).map((seq) => readEntry(sql, seq)!)
  if (events.length === 0) return false
  if (verb === 'delete' || verb === 'restore') return true
  const data = resolved(write, noun, change.data)
  if (data === null) return false
  if (verb === 'create') return events.some((event) => isDraftOf(noun, data, at, JSON.parse(event.data ?? '{}')))
  const checked =
    noun.verbs[verb]?.keeps === 'event' ? checkArguments(data) : checkPatch(noun, data, at, { dropsComputed: true })
  const args = argumentsText(noun, checked.data) ?? '{}'
  return events.some((event) => sameJson(JSON.parse(event.args ?? '{}'), JSON.parse(args)))
}

function resolved({ engine }: Write, noun: Noun, data: JsonObject): JsonObject | null {
  try {
    return withIds(engine, noun.name, data)
  } catch (reason) {
    if (reason instanceof Problem) return null
    throw reason
  }
}

/** Whether a draft is what an entity was created from. The service adds values of its own to some. */
function isDraftOf(noun: Noun, data: JsonObject, at: number, state: JsonObject): boolean {
  const { data: draft } = checkDraft(noun, data, at, { dropsComputed: true })
  const isOwn = (field: string) => field === SOURCE.name || isAdded(noun, field)
  return (
    Object.entries(draft).every(([field, value]) => sameJson(value, state[field] ?? null)) &&
    Object.keys(state).every((field) => Object.hasOwn(draft, field) || isOwn(field))
  )
}

function isAdded(noun: Noun, name: string): boolean {
  return noun.name === 'Invoice' || isComputed(noun.fields[name])
}

/** Whether a row of this time may follow what the tenant has. */
function isNext({ engine, context }: Write, at: number): boolean {
  return at <= engine.nextTime(context.clock) && at >= engine.head.happenedAt && at > engine.syncedUntil
}

/** Actors that a tenant has itself; those of other systems have other names. */
const OF_TENANT =
  /^(?:(?:user|apiKey|agent)_|(?:hook|timer|workflow|integration|agent):|(?:operator|system|mail|signup)$)/

/** Writes the change as an event of its time. */
function record(write: Write, { change, noun, id, isSourceKnown }: Known): void {
  const { engine, grant, context } = write
  const { verb: name, source, at, actor } = change
  if (name === 'rollback') throw wrong('A rollback is not imported. Send the update that it made.', 'verb')
  if (actor !== null && isAgents(grant) && OF_TENANT.test(actor))
    throw wrong('An agent cannot import changes in the name of a person, a key or the service.', 'actor')
  const past = { at, recordedAt: engine.nextTime(context.clock) }
  const { onBehalfOf: _, ...own } = grant
  const writing = write.as(actor === null ? grant : { ...own, actor }).within({ past, toCompute: null })
  const verb = verbOf(noun, name)
  const data = withIds(engine, noun.name, change.data)
  const request = { type: noun.name, verb: verb.name, dropsComputed: true }
  if (verb.name === 'create') {
    if (isSourceKnown) throw new Problem('conflict', `${nameOf(change)} exists already: ${id}.`, { type: noun.name })
    const serviceFields = source === null ? {} : { [SOURCE.name]: [source] }
    const draft = change.id === null ? data : { ...data, $id: change.id }
    applyVerb(writing, { ...request, data: draft, keepId: true, serviceFields })
    return
  }
  if (id === undefined) {
    throw new Problem('not_found', `${nameOf(change)} does not exist. Only create creates it.`, { type: noun.name })
  }
  const serviceFields = source === null || isSourceKnown ? {} : { [SOURCE.name]: sourcesWith(write, noun, id, source) }
  applyVerb(writing, { ...request, id, data, serviceFields })
}

/** Where an entity came from, with one more source. */
function sourcesWith({ sql }: Write, noun: Noun, id: string, source: string): Json {
  const current = currentOf(sql, noun.name, id)
  const sources = current && (JSON.parse(current.data) as JsonObject)[SOURCE.name]
  return [...(Array.isArray(sources) ? sources : []), source]
}

function nameOf({ type, id, source }: PastChange): string {
  if (id === null && source === null) return `A ${type} without id and source`
  return `The ${type} ${id ?? `with the source ${source}`}`
}

function outOfOrder({ engine }: Write, row: ImportRow): ImportDetail {
  const head = Math.max(engine.head.happenedAt, engine.syncedUntil)
  return { ...detailOf(row, 'out_of_order'), ...(head > 0 && { head: isoOf(head) }) }
}

function detailOf({ row, line }: ImportRow, error: string): ImportDetail {
  return { row, error, ...(line !== undefined && { line }) }
}

/** The service's own types have no past but their own. */
function refuseType({ name }: Noun): void {
  if (!isOwnType(name) && name !== 'Changeset') return
  throw new Problem('forbidden', `The past of ${name} cannot be imported: it is one of the service's own types.`, {
    type: name,
  })
}
