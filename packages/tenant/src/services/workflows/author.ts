import { type JsonObject, matchesEvent } from '@tildebase/nouns'
import { changes, type Reach, reachOfFilter } from '../../authorship/reach.ts'
import { type Authored, authored, demandCovers, store, type Thing } from '../../authorship/stored.ts'
import { type Engine, formOf } from '../../engine/engine.ts'
import { demandArea, type Grant } from '../../grant/grant.ts'
import { filterOf } from '../../query/parameters/filter.ts'
import type { RunRow } from '../../store/automation/workflow-runs.ts'
import { currentOf } from '../../store/entities.ts'
import type { Write } from '../../write/write.ts'
import { authoredCall } from '../agents/author.ts'
import { BEHAVIOUR, type Definition, definitionOf, filteredNoun } from './definition.ts'
import type { Step } from './steps/step.ts'
import { waitForReach } from './steps/wait-for.ts'
import { secretsIn } from './values.ts'

/** A workflow as a stored thing. */
export function workflowThing(id: string): Thing {
  return { kind: 'workflow', id, actor: `workflow:${id}` }
}

/** The fields of a workflow that decide what it does: what its author stores. */
export function behaviourOf(data: JsonObject): JsonObject {
  return Object.fromEntries(BEHAVIOUR.flatMap((field) => (data[field] === undefined ? [] : [[field, data[field]!]])))
}

/** A definition with the author who stored it; null when no caller stored this definition. */
export function authoredWorkflow(engine: Engine, id: string, data: JsonObject): Authored<Definition> | null {
  const behaviour = behaviourOf(data)
  return authored(engine, workflowThing(id), definitionOf(behaviour), behaviour)
}

/** What a run does, with the author who stored that: a workflow, or the endpoint of an agent that is called. */
export function authoredRun(
  engine: Engine,
  { workflow, trigger }: Pick<RunRow, 'workflow' | 'trigger'>,
  data: JsonObject,
): Authored<Definition> | null {
  return trigger === 'call' ? authoredCall(engine, workflow, data) : authoredWorkflow(engine, workflow, data)
}

/** What has runs: a workflow, or an agent that is called. */
export type Runner = 'Workflow' | 'Agent'

/** A workflow or an agent as it is now with its author, or null. */
export function currentRunner(engine: Engine, type: Runner, id: string): Authored<Definition> | null {
  const current = currentOf(engine.sql, type, id)
  const authoredAs = type === 'Agent' ? authoredCall : authoredWorkflow
  return current ? authoredAs(engine, id, JSON.parse(current.data) as JsonObject) : null
}

/** The workflow as it is now with its author, or null. */
export function currentWorkflow(engine: Engine, id: string): Authored<Definition> | null {
  return currentRunner(engine, 'Workflow', id)
}

/** Makes the caller the author of a workflow, if it may do all that the workflow names. */
export function storeWorkflow(write: Write, id: string, data: JsonObject): void {
  const behaviour = behaviourOf(data)
  demandSecrets(write.grant, behaviour)
  store(write, workflowThing(id), behaviour, reachOf(write.engine, definitionOf(behaviour)))
  // Its event came before its author: without one it would not run.
  write.engine.cache.forget(formOf('Workflow'))
}

/** A workflow that uses a secret could send it anywhere: storing one needs the right to set secrets. */
export function demandSecrets(grant: Grant, behaviour: JsonObject): void {
  if (secretsIn(behaviour.steps).length > 0) demandArea(grant, 'admin', 'platform')
}

/** Refuses to change or to start a workflow that can do more than the caller. */
export function demandCoversWorkflow(engine: Engine, grant: Grant, id: string): void {
  demandCovers(engine, grant, currentWorkflow(engine, id), 'Workflow')
}

/**
 * What a definition names: the types of the events that it waits for, what its filter reads, and the types that its steps
 * change.
 */
export function reachOf(engine: Engine, { pattern, filter, steps }: Definition): Reach[] {
  const all = steps.flatMap((step) => [step, ...(step.undo ? [step.undo] : [])])
  const patterns = [pattern, ...all.map((step) => ('waitFor' in step ? step.waitFor : null))]
  const source = engine.nouns.all.filter(({ name }) => patterns.some((one) => one !== null && isNamed(one, name)))
  const written = all.flatMap((step) => engine.nouns.get(writtenBy(step) ?? '') ?? [])
  return [
    ...source.map((noun): Reach => ({ action: 'read', noun })),
    ...(filter === null ? [] : reachOfFilter(engine, filterOf(engine, filteredNoun(engine, pattern), filter))),
    ...all.flatMap((step) => ('waitFor' in step ? waitForReach(engine, step) : [])),
    ...written.map((noun) => changes(noun)),
  ]
}

/** The type that a step changes, or null. Code asks for its rights when it runs. */
function writtenBy(step: Step): string | null {
  return 'verb' in step ? step.type : 'send' in step ? 'Message' : null
}

/** Whether a pattern names this type: `Deal.won`, `Deal.*`. Patterns for every type give what the author may read. */
function isNamed(pattern: string, type: string): boolean {
  const [named] = pattern.split('.')
  return named !== '*' && matchesEvent(`${named}.*`, type, '')
}
