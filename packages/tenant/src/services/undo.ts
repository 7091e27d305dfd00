import { Problem } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import type { Steps } from '../engine/turns.ts'
import { visibilityOf } from '../query/rights/visibility.ts'
import { currentOf } from '../store/entities.ts'
import { correlatedSeqs, eachEntry, type LogRow } from '../store/log/log.ts'
import { seqsOf } from '../store/log/versions.ts'
import { runVerb } from '../write/run-verb.ts'
import type { Write } from '../write/write.ts'

/** Events that are read in one step. */
const PAGE = 200

/** What an undo did. */
export interface UndoResult {
  /** What the undo itself can be undone by. */
  readonly correlation: string
  readonly undone: number
  /** Tracked events that stay, since what happened has happened. */
  readonly kept: readonly string[]
}

/** Why something cannot be undone. */
interface Obstacle {
  readonly type: string
  readonly id: string
  readonly message: string
}

/** An event without its values: many large ones would fill the memory. */
type Undone = Pick<LogRow, 'seq' | 'id' | 'type' | 'entity' | 'verb' | 'event' | 'version'>

/** Takes back all that shares a correlation, the last first. All of it or nothing. */
export function* undo(write: Write, correlation: string): Steps<UndoResult> {
  const { engine } = write
  const { events, areVisible } = yield* correlated(write, correlation)
  if (events.length === 0) {
    throw new Problem('not_found', `Nothing was written under the correlation ${correlation.slice(0, 200)}.`, {
      id: correlation.slice(0, 200),
    })
  }
  // A grant cannot undo what it cannot see, and does not learn about it.
  if (!areVisible)
    throw new Problem('forbidden', 'Nothing was undone: this key may not change all the affected entities.')
  const isTracked = ({ type }: Undone) => engine.nouns.get(type)?.storage === 'log'
  // Computed fields follow the undone changes automatically.
  const changes = events.filter((event) => !isTracked(event) && event.verb !== 'compute')
  refuse([...(yield* editedLater(write, changes)), ...final(engine, changes)])
  const own = write.newId('undo')
  const undoing = write.within({ correlation: own })
  const { budget, progress } = write.context
  progress.expect(() => changes.length)
  for (const event of changes.toReversed()) {
    budget.checkTime()
    runVerb(undoing, { ...inverse(event), type: event.type, id: event.entity })
    progress.advance()
    yield
  }
  return { correlation: own, undone: changes.length, kept: events.filter(isTracked).map(({ id }) => id) }
}

/** All events that share a correlation, oldest first, and whether the grant sees each of them. */
function* correlated({ engine, grant, context }: Write, correlation: string) {
  const { show } = visibilityOf(engine, grant, null)
  const events: Undone[] = []
  let areVisible = true
  for (;;) {
    const seqs = correlatedSeqs(engine.sql, correlation, events.at(-1)?.seq ?? 0, PAGE)
    const page: Undone[] = []
    for (const record of eachEntry(engine.sql, seqs)) {
      context.budget.checkTime()
      areVisible &&= show(record) !== null
      const { seq, id, type, entity, verb, event, version } = record
      page.push({ seq, id, type, entity, verb, event, version })
      yield
    }
    events.push(...page.toReversed())
    if (seqs.length < PAGE) return { events, areVisible }
  }
}

/** The verb that leads back to before an event. */
function inverse({ verb, version }: Undone): { verb: string; data: { version?: number } } {
  if (verb === 'create' || verb === 'restore') return { verb: 'delete', data: {} }
  if (verb === 'delete') return { verb: 'restore', data: {} }
  return { verb: 'rollback', data: { version: version - 1 } }
}

/** Entities whose newest event is not one of these. */
function* editedLater({ engine, context }: Write, events: readonly Undone[]): Steps<Obstacle[]> {
  const newest = new Map(events.map((event) => [event.entity, event]))
  const edited: Obstacle[] = []
  for (const event of newest.values()) {
    context.budget.checkTime()
    const { type, entity: id } = event
    if (isEditedSince(engine, event)) edited.push({ type, id, message: 'was edited later' })
    yield
  }
  return edited
}

/** Whether a later event changed the entity; that its computed fields followed other entities is not an edit. */
function isEditedSince({ sql }: Engine, { type, entity, seq }: Undone): boolean {
  const current = currentOf(sql, type, entity)
  if (current === undefined || current.seq === seq) return current === undefined
  const later = seqsOf(sql, current.ordinal).filter((one) => one > seq)
  for (const { verb } of eachEntry(sql, later)) if (verb !== 'compute') return true
  return false
}

/** Types whose events cannot be undone: a revoked key stays revoked. */
function final(engine: Engine, events: readonly Undone[]): Obstacle[] {
  return events
    .filter((event) => !Object.hasOwn(engine.nouns.get(event.type)?.verbs ?? {}, inverse(event).verb))
    .map(({ type, entity: id, event }) => ({ type, id, message: `${type}.${event} cannot be undone` }))
}

function refuse(obstacles: readonly Obstacle[]): void {
  if (obstacles.length === 0) return
  const list = obstacles.slice(0, 5).map(({ id, message }) => `${id} ${message}`)
  const more = obstacles.length > 5 ? ` and ${obstacles.length - 5} more` : ''
  throw new Problem('conflict', `Nothing was undone: ${list.join('; ')}${more}.`, { details: obstacles })
}
