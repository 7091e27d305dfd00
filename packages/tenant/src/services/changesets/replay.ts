import { listed, Problem } from '@tildebase/nouns'
import type { Steps } from '../../engine/turns.ts'
import { isVisible } from '../../query/rights/visible-entity.ts'
import type { LogRow } from '../../store/log/log.ts'
import { runVerb } from '../../write/run-verb.ts'
import type { RunResult } from '../../write/verb-request.ts'
import type { Write } from '../../write/write.ts'
import { ChangeLog, type LaterChanges } from './later-changes.ts'
import type { Operation } from './operations.ts'

/** Why an operation cannot run as it was proposed. */
export interface Conflict {
  readonly operation: number
  readonly type: string
  readonly id: string
  readonly field?: string
  readonly reason: string
}

/** What became of one operation. */
export interface Replayed {
  readonly operation: Operation
  /** Null when it could not run. */
  readonly result: RunResult | null
  readonly events: readonly LogRow[]
  readonly problem: Problem | null
}

export interface Replay {
  readonly steps: readonly Replayed[]
  readonly conflicts: readonly Conflict[]
}

/** Problems that are not about an operation, but about the request that runs it. */
const NOT_CONFLICTS = new Set(['over_budget', 'internal', 'unavailable'])

/**
 * Runs the operations of a changeset in their order, with the rights of the write. One that cannot run, or that changes
 * a field which others changed after it was proposed, is a conflict; the others run all the same. `untried` runs those that
 * were not tried when they were proposed.
 */
export function* replay(write: Write, operations: readonly Operation[], untried: Write = write): Steps<Replay> {
  const { engine, transaction } = write
  const base = operations.reduce((least, one) => Math.min(least, one.base), engine.head.seq)
  const later = new ChangeLog(engine, base)
  later.read(operations.map(({ id }) => id))
  const conflicts: Conflict[] = []
  const attempt = (operation: Operation): Replayed => {
    const before = transaction.events.length
    try {
      const own = operation.untried ? untried : write
      const result = own.attempt(() => runVerb(own, requestOf(operation)))
      const events = transaction.events.slice(before)
      conflicts.push(...overlaps(write, operation, events, later))
      return { operation, result, events, problem: null }
    } catch (reason) {
      if (!(reason instanceof Problem) || NOT_CONFLICTS.has(reason.code)) throw reason
      const failed = failure(operation, reason)
      conflicts.push(failed, ...besides(write, operation, later).filter(({ field }) => field !== failed.field))
      return { operation, result: null, events: [], problem: reason }
    }
  }
  const { budget, progress } = write.context
  progress.expect(() => operations.length)
  const steps: Replayed[] = []
  for (const operation of operations) {
    budget.checkTime()
    steps.push(attempt(operation))
    progress.advance()
    yield
  }
  return { steps, conflicts }
}

function requestOf({ type, verb, id, data, cascade, contents }: Operation) {
  const known = contents && { knownContents: new Set(contents) }
  return verb === 'create'
    ? { type, verb, data: data ?? {}, keepId: true, ...known }
    : { type, verb, id, data: data ?? {}, ...(cascade && { cascade }), ...known }
}

function failure({ number, type, id }: Operation, { message, about }: Problem): Conflict {
  const field = typeof about.field === 'string' ? about.field : undefined
  return { operation: number, type, id, ...(field && { field }), reason: message }
}

/** The fields of an update that cannot run which others changed: they are in conflict also when the rest is mended. */
function besides(write: Write, operation: Operation, later: ChangeLog): Conflict[] {
  const { engine, grant } = write
  const noun = engine.nouns.get(operation.type)
  if (operation.verb !== 'update' || !noun || !isVisible(engine, grant, noun, operation.id)) return []
  return overlaps(write, operation, [], later).filter(({ field }) => field !== undefined)
}

/** The fields that the operation gives or changes, and that others changed after it was proposed. */
function overlaps(write: Write, operation: Operation, events: readonly LogRow[], later: ChangeLog): Conflict[] {
  const { number, type, id, verb, base, fields } = operation
  const own = touched(later.since(id, base), verb, fields)
  const found = new Map(own.map((field) => [`${id} ${field}`, { type, id, field }]))
  // What the verb changes beside: its rule may have been met by other values when it was proposed.
  // Computed fields follow automatically.
  for (const event of events.filter(({ actor, verb }) => actor === write.grant.actor && verb !== 'compute')) {
    const changed = event.previous === null ? [] : Object.keys(JSON.parse(event.previous))
    for (const field of touched(later.since(event.entity, base), event.verb, changed)) {
      found.set(`${event.entity} ${field}`, { type: event.type, id: event.entity, field })
    }
  }
  return [...found.values()].map(({ type, id, field }) => ({
    operation: number,
    type,
    id,
    ...(field !== WHOLE && { field }),
    reason: reasonOf(type, field, later.since(id, base)),
  }))
}

/** Represents an entity as a whole. */
const WHOLE = ''

function touched({ fields, deleted }: LaterChanges, verb: string, given: readonly string[]): string[] {
  if (deleted) return [WHOLE]
  if (verb === 'delete' || verb === 'restore') return fields.size > 0 ? [WHOLE] : []
  return given.filter((field) => fields.has(field))
}

function reasonOf(type: string, field: string, { fields, deleted }: LaterChanges): string {
  if (field !== WHOLE) return `${field} of this ${type} was changed after the proposal.`
  if (deleted) return `This ${type} was deleted after the proposal.`
  return `${listed([...fields], 'and')} of this ${type} ${fields.size === 1 ? 'was' : 'were'} changed after the proposal.`
}
