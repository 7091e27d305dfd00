import type { Json, JsonObject } from '@tildebase/nouns'
import type { Steps } from '../../engine/turns.ts'
import { may } from '../../grant/grant.ts'
import { ALL, type Scope } from '../../grant/scopes.ts'
import { visibilityOf } from '../../query/rights/visibility.ts'
import { isVisible } from '../../query/rights/visible-entity.ts'
import { currentOf } from '../../store/entities.ts'
import { correlatedSeqs, eachEntry, type LogRow } from '../../store/log/log.ts'
import type { Write } from '../../write/write.ts'
import { type Changeset, changesetOf } from './changeset.ts'
import { type Operation, operationsOf } from './operations.ts'
import { type Conflict, type Replay, type Replayed, replay } from './replay.ts'

/** How one operation would change one entity. */
interface Difference {
  readonly operation: number
  readonly type: string
  readonly id: string
  readonly verb: string
  readonly changes: { readonly [field: string]: { readonly from: Json; readonly to: Json } }
}

/** A changeset for a reviewer, with its diff against the current state and its conflicts. */
export interface Review {
  readonly changeset: Changeset
  readonly operations: readonly Operation[]
  readonly diff: readonly Difference[]
  readonly conflicts: readonly Conflict[]
  /** What BEFORE hooks say about the operations that they refuse. */
  readonly messages: readonly { readonly operation: number; readonly message: string }[]
}

/** Tries an open changeset on the current state and takes it back. A closed one shows what it was. */
export function* review(write: Write, id: string): Steps<Review> {
  const { engine, grant } = write
  const changeset = changesetOf(engine, grant, id)
  const operations = operationsOf(engine, changeset)
  if (changeset.state !== 'Open') {
    const diff =
      changeset.state === 'Approved' ? written(write, id, operations) : operations.map((one) => intended(write, one))
    return { changeset, operations, diff, conflicts: [], messages: [] }
  }
  const { result } = yield* write.transaction.dryRunInSteps(() => tryOut(write, operations))
  const { steps, conflicts } = result
  const shown = steps.filter((step) => !isOfHidden(write, step))
  return {
    changeset,
    operations,
    diff: differences(write, steps),
    conflicts: shownConflicts(write, steps, conflicts),
    messages: shown.flatMap(messageOf),
  }
}

/**
 * Tries operations for a grant that sees their changeset: on its visible rows, and with all other rights. One that was not
 * tried with the rights of its author may write only what the grant may read: whether it can run would tell of the rest.
 */
export function tryOut(write: Write, operations: readonly Operation[]): Steps<Replay> {
  const { actor, rows, scopes } = write.grant
  const trial = (given: readonly Scope[]) => write.as({ actor, rows, scopes: given }).within({ isDryRun: true })
  const readable = scopes.filter(({ action }) => action !== 'approve')
  return replay(trial(ALL), operations, trial(readable.map(({ area }) => ({ action: 'admin', area }))))
}

/** The conflicts without words about types that the grant may not read. What it was not allowed to try is not in conflict. */
function shownConflicts(write: Write, steps: readonly Replayed[], conflicts: readonly Conflict[]): Conflict[] {
  const found = new Map(steps.map((step) => [step.operation.number, step]))
  return conflicts.flatMap((conflict) => {
    const step = found.get(conflict.operation)!
    if (step.operation.untried && step.problem?.code === 'forbidden') return []
    if (!isOfHidden(write, step)) return [conflict]
    const { field: _, ...rest } = conflict
    return [{ ...rest, reason: 'It changes entities that you may not read, and cannot run.' }]
  })
}

/** Whether an operation failed because of a type that the grant may not read. */
function isOfHidden({ engine, grant }: Write, { problem }: Replayed): boolean {
  const noun = engine.nouns.get(String(problem?.about.type ?? ''))
  return noun !== undefined && !may(grant, 'read', noun)
}

function differences(write: Write, steps: readonly Replayed[]): Difference[] {
  const { show } = visibilityOf(write.engine, write.grant, null)
  return steps.flatMap((step) => {
    if (step.result === null) return [intended(write, step.operation)]
    const shown = step.events.flatMap((event) => show(event) ?? [])
    const own = shown.filter((event) => event.entity === step.operation.id || event.actor === write.grant.actor)
    if (own.length === 0) return [{ ...headOf(step.operation), changes: {} }]
    return own.map((event) => ({
      operation: step.operation.number,
      type: event.type,
      id: event.entity,
      verb: event.entity === step.operation.id ? step.operation.verb : event.verb,
      changes: changesIn(event),
    }))
  })
}

/** Events that are read together: those of a changeset may be large. */
const PAGE = 20

/** What an approved changeset changed, as the log has it. */
function written({ engine, grant, sql, context }: Write, id: string, operations: readonly Operation[]): Difference[] {
  const { show } = visibilityOf(engine, grant, null)
  const left = [...operations]
  const differences: Difference[] = []
  let number = 0
  const seqs = correlatedSeqs(sql, id, 0, -1)
  for (let start = 0; start < seqs.length; start += PAGE) {
    for (const event of [...eachEntry(sql, seqs.slice(start, start + PAGE))].toReversed()) {
      const own = left.findIndex((one) => one.id === event.entity)
      if (own >= 0) number = left.splice(0, own + 1).at(-1)!.number
      const shown = show(event)
      if (shown === null) continue
      const changes = changesIn(shown)
      context.budget.spendBytes(JSON.stringify(changes).length)
      differences.push({ operation: number, type: event.type, id: event.entity, verb: event.verb, changes })
    }
  }
  return differences
}

/** What an operation that cannot run would have set, against the entity as it is. */
function intended({ engine, grant }: Write, operation: Operation): Difference {
  const { type, id, data = {} } = operation
  const noun = engine.nouns.get(type)
  const isSeen = noun && isVisible(engine, grant, noun, id)
  const now = isSeen ? (JSON.parse(currentOf(engine.sql, type, id)!.data) as JsonObject) : {}
  const fields = Object.entries(data).filter(([field]) => !field.startsWith('$'))
  const changes = fields.map(([field, to]) => [field, { from: now[field] ?? null, to }])
  return { ...headOf(operation), changes: Object.fromEntries(changes) }
}

function headOf({ number, type, id, verb }: Operation) {
  return { operation: number, type, id, verb }
}

/** The fields of an event, before and after, and the arguments that are in no field: they are approved as well. */
function changesIn({ verb, data, previous, args }: LogRow): Difference['changes'] {
  const after = JSON.parse(data ?? '{}') as JsonObject
  if (verb === 'delete') return pairs(Object.keys(after), (field) => ({ from: after[field]!, to: null }))
  if (previous === null || verb === 'restore')
    return pairs(Object.keys(after), (field) => ({ from: null, to: after[field]! }))
  const before = JSON.parse(previous) as JsonObject
  const given = JSON.parse(args ?? '{}') as JsonObject
  const unkept = Object.keys(given).filter((name) => JSON.stringify(after[name]) !== JSON.stringify(given[name]))
  return {
    ...pairs(unkept, (name) => ({ from: null, to: given[name]! })),
    ...pairs(Object.keys(before), (field) => ({ from: before[field]!, to: after[field] ?? null })),
  }
}

function pairs(fields: readonly string[], pair: (field: string) => { from: Json; to: Json }): Difference['changes'] {
  return Object.fromEntries(fields.map((field) => [field, pair(field)]))
}

function messageOf({ operation, problem }: Replayed) {
  return problem?.code === 'rejected' ? [{ operation: operation.number, message: problem.message }] : []
}
