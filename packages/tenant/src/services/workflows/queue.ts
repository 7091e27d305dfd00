import { type Filter, type JsonObject, type Look, matchesEvent, type Noun, Problem } from '@tildebase/nouns'
import { storedFilter } from '../../authorship/reach.ts'
import { type Authored, act } from '../../authorship/stored.ts'
import { type Engine, formOf } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { SharedElements } from '../../query/answer/elements.ts'
import { rowTest } from '../../query/answer/memory.ts'
import { stateOnce } from '../../query/answer/tested-view.ts'
import { isRelative } from '../../query/parameters/filter.ts'
import { readContextOf } from '../../query/read-context.ts'
import { visibilityOf } from '../../query/rights/visibility.ts'
import { orHidden } from '../../query/words/regex.ts'
import { addRun, continueRuns, resumeRuns, runAt } from '../../store/automation/workflow-runs.ts'
import { addWorkflow, scheduleWorkflow, setFailures, storedWorkflows } from '../../store/automation/workflows.ts'
import type { Stored } from '../../store/entities.ts'
import type { LogRow } from '../../store/log/log.ts'
import type { Write } from '../../write/write.ts'
import { authoredRun, authoredWorkflow } from './author.ts'
import { BEHAVIOUR, type Definition, definitionOf } from './definition.ts'
import { nextTime } from './schedule.ts'
import { endWaits } from './steps/wait-for.ts'

/** Events that the service writes about runs. */
const ENDINGS: readonly string[] = ['succeeded', 'failed', 'cancelled', 'answered']

/** A workflow that runs, ready to decide for which events. */
interface Active {
  readonly id: string
  wants(event: LogRow, look: Look): boolean
}

/** Follows the events of workflows themselves, and queues a run for each event that a workflow waits for. */
export function queueRuns(write: Write, event: LogRow, entity: Stored): void {
  if (event.type === 'Workflow' && !ENDINGS.includes(event.event)) followWorkflow(write, event, entity)
  // The write of the event waits for all filters.
  const elements = new SharedElements()
  for (const workflow of activeWorkflows(write.engine)) {
    if (workflow.wants(event, elements.one())) queue(write, workflow.id, 'event', event)
  }
  endWaits(write, event, (run) => grantOfRun(write.engine, run), elements)
}

/** The rights of the author of what a run does; null when the run has ended, or has none. */
function grantOfRun(engine: Engine, n: number): Grant | null {
  const run = runAt(engine.sql, n)
  const stored = run?.definition && run.endedAt === null && authoredRun(engine, run, run.definition.behaviour)
  return stored ? act(stored).grant : null
}

/** Keeps the schedule of a workflow up to date, in the transaction of its event. Its author is not an event's matter. */
function followWorkflow(write: Write, event: LogRow, entity: Stored): void {
  const { sql, context } = write
  const { id } = entity
  const changed = event.previous === null ? null : Object.keys(JSON.parse(event.previous) as JsonObject)
  const isWhole = changed === null || event.verb === 'restore'
  const isStored = isWhole || BEHAVIOUR.some((field) => changed.includes(field))
  if (event.verb === 'delete') {
    scheduleWorkflow(sql, id, null)
    endRuns(write, id)
    return
  }
  addWorkflow(sql, id, event.seq)
  if (isStored || changed.includes('status')) {
    const data = JSON.parse(entity.data) as JsonObject
    schedule(write, id, data)
    if (data.status === 'Archived') endRuns(write, id)
    if (data.status === 'Activated' && changed?.includes('status')) {
      setFailures(sql, id, 0)
      resumeRuns(sql, id, context.clock.now())
      write.wakeAt(context.clock.now())
    }
  }
  if (event.verb === 'trigger') queue(write, id, 'manual', event)
}

/** Runs of a workflow that was deleted or archived are cancelled when they continue: what they ask people is closed then. */
function endRuns(write: Write, id: string): void {
  const now = write.context.clock.now()
  continueRuns(write.sql, id, now)
  write.wakeAt(now)
}

function schedule(write: Write, id: string, data: JsonObject): void {
  const { schedule: cron } = definitionOf(data)
  const at = cron && data.status === 'Activated' ? nextTime(cron, write.context.clock.now()) : null
  scheduleWorkflow(write.sql, id, at)
  if (at !== null) write.wakeAt(at)
}

function queue(write: Write, workflow: string, trigger: 'event' | 'manual', { seq, at }: LogRow): void {
  const { hops, clock } = write.context
  const due = clock.now()
  addRun(write.sql, { id: write.newId('run'), workflow, trigger, seq, at, due, hops })
  write.wakeAt(due)
}

/** Computes the next time of every schedule again, from now on. */
export function rescheduleAll({ sql, ports }: Engine): void {
  for (const { id, data } of storedWorkflows(sql)) {
    const state = JSON.parse(data) as JsonObject
    const { schedule: cron } = definitionOf(state)
    scheduleWorkflow(sql, id, cron && state.status === 'Activated' ? nextTime(cron, ports.clock.now()) : null)
  }
}

/** The workflows that run for events, kept until one of them changes. One without an author does not run. */
function activeWorkflows(engine: Engine): readonly Active[] {
  return engine.cache.get([formOf('Workflow'), 'Schema'], 'active workflows', () =>
    storedWorkflows(engine.sql).flatMap(({ id, data }) => {
      const state = JSON.parse(data) as JsonObject
      const isActive = state.status === 'Activated' && definitionOf(state).pattern !== null
      const stored = isActive ? authoredWorkflow(engine, id, state) : null
      return stored ? [activeOf(engine, id, stored)] : []
    }),
  )
}

function activeOf(engine: Engine, id: string, stored: Authored<Definition>): Active {
  const { declaration: definition, grant } = act(stored)
  const { show } = visibilityOf(engine, grant, [definition.pattern!])
  const isNamed = definition.pattern!.toLowerCase().startsWith('workflow.')
  const passes = filterTest(engine, grant, definition)
  return {
    id,
    wants: (event, look) => {
      // The end of a run is an event too: what waits for all events would run for its own runs.
      const isEnding = event.type === 'Workflow' && ENDINGS.includes(event.event)
      if (isEnding && (!isNamed || event.entity === id)) return false
      // Run by hand: that is a run already.
      if (event.type === 'Workflow' && event.verb === 'trigger' && event.entity === id) return false
      return orHidden(() => show(event, look)) !== null && passes(event, look)
    },
  }
}

/** Whether an event is one that a workflow waits for. */
export function isWanted(engine: Engine, stored: Authored<Definition>, event: LogRow): boolean {
  const { declaration, grant } = act(stored)
  const { pattern } = declaration
  if (pattern === null || !matchesEvent(pattern, event.type, event.event)) return false
  return filterTest(engine, grant, declaration)(event)
}

/**
 * Tests whether the state in an event passes the filter of a workflow. A filter that does not fit the type passes nothing. It
 * is read once for each type, unless it is relative to the time.
 */
function filterTest(engine: Engine, grant: Grant, { filter }: Definition): (event: LogRow, look?: Look) => boolean {
  if (filter === null) return () => true
  const known = new Map<string, Filter | null>()
  const filterFor = (noun: Noun): Filter | null => {
    const kept = known.get(noun.name)
    if (kept !== undefined) return kept
    const read = readFilter(engine, grant, noun, filter)
    if (read === null || !isRelative(JSON.stringify(read))) known.set(noun.name, read)
    return read
  }
  return (event, look) => {
    const noun = engine.nouns.get(event.type)
    if (noun?.name !== event.type || event.data === null) return false
    const read = filterFor(noun)
    try {
      return read !== null && rowTest(readContextOf(engine, grant), noun.name, read)(stateOnce(event, event.data), look)
    } catch (reason) {
      if (reason instanceof Problem) return false
      throw reason
    }
  }
}

function readFilter(engine: Engine, grant: Grant, noun: Noun, filter: unknown): Filter | null {
  try {
    return storedFilter(engine, grant, noun, filter)
  } catch (reason) {
    if (reason instanceof Problem) return null
    throw reason
  }
}
