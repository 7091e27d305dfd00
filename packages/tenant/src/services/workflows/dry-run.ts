import { invalid, isoOf, isPlainObject, type Json, type JsonObject, listed, Problem } from '@tildebase/nouns'
import { act, draft } from '../../authorship/stored.ts'
import type { Engine } from '../../engine/engine.ts'
import { demand, type Grant } from '../../grant/grant.ts'
import { visibilityOf } from '../../query/rights/visibility.ts'
import { currentOf } from '../../store/entities.ts'
import { type LogRow, readEntryOf } from '../../store/log/log.ts'
import { eventView } from '../../view/event.ts'
import { DryRun, type TrialRunner } from '../scripts/dry-run.ts'
import { LIMITS } from '../scripts/limits.ts'
import { noScript } from '../scripts/no-script.ts'
import { authoredWorkflow, behaviourOf, demandCoversWorkflow, demandSecrets, reachOf, workflowThing } from './author.ts'
import { stepCall } from './code.ts'
import { BEHAVIOUR, checkDefinition, type Definition, definitionOf } from './definition.ts'
import { nextStep, type StepOutcome } from './interpret.ts'
import { isWanted } from './queue.ts'
import { questionIn } from './steps/ask.ts'
import { callsOf } from './steps/calls.ts'
import { passesCondition } from './steps/condition.ts'
import { shownRequest } from './steps/request.ts'
import { aboutStep, isWaiting, type Step, stepAt, undoneStep, type VerbStep } from './steps/step.ts'
import { momentOf } from './steps/until.ts'
import { resolve, type Sources } from './values.ts'
import { demandRunner } from './view.ts'

/** Runs work of a dry run with a grant. */
type Runner = (grant: Grant) => TrialRunner

/** Runs a workflow on an event without a trace: what each step would give, and the events that it would write. */
export async function testWorkflow(
  engine: Engine,
  caller: Grant,
  id: string,
  body: unknown,
  run: Runner,
): Promise<JsonObject> {
  demand(caller, 'write', engine.noun('Workflow'))
  demandRunner(engine, caller, 'Workflow', id)
  demandCoversWorkflow(engine, caller, id)
  const data = JSON.parse(currentOf(engine.sql, 'Workflow', id)!.data) as JsonObject
  const changed = draftIn(engine, data, body)
  const known = changed === null ? authoredWorkflow(engine, id, data) : null
  if (changed !== null) demandSecrets(caller, behaviourOf(changed))
  const tried = definitionOf(changed ?? data)
  const trying = { engine, grant: caller, context: { recorder: null } }
  // A draft would run with the rights of the caller, who would store it.
  const stored = known ?? draft(trying, workflowThing(id), tried, reachOf(engine, tried))
  const { declaration: definition, grant } = act(stored)
  const record = recordIn(engine, grant, definition, body)
  const dry = new DryRun(engine, grant, run(grant))
  const event = viewOf(engine, record, body)
  const { status, steps } = await walk(engine, definition, event, dry)
  const matches = record !== null && isWanted(engine, stored, record)
  return { dryRun: true, matches, status, event, steps, events: dry.events }
}

/** The workflow with the changes that `{workflow}` asks to try, null clearing a field; null when there are none. */
function draftIn(engine: Engine, stored: JsonObject, body: unknown): JsonObject | null {
  const given = isPlainObject(body) ? body.workflow : undefined
  if (given === undefined) return null
  if (!isPlainObject(given)) throw invalid('Workflow', [{ field: 'workflow', message: 'must be an object' }])
  const unknown = Object.keys(given).filter((field) => !BEHAVIOUR.includes(field as never))
  if (unknown.length > 0) {
    const message = `cannot be tried; workflow takes ${listed(BEHAVIOUR, 'and')}`
    throw invalid(
      'Workflow',
      unknown.map((field) => ({ field: `workflow.${field}`, message })),
    )
  }
  const merged = Object.entries({ ...stored, ...(given as JsonObject) }).filter(([, value]) => value !== null)
  const changed = Object.fromEntries(merged)
  checkDefinition(engine, changed)
  return changed
}

async function walk(engine: Engine, definition: Definition, event: JsonObject, dry: DryRun) {
  const outcomes = new Map<number, StepOutcome>()
  const outputs: (Json | undefined)[] = []
  const shown: JsonObject[] = []
  for (;;) {
    const next = nextStep(definition, (place) => outcomes.get(place) ?? null)
    if ('end' in next) return { status: next.end, steps: shown }
    const { place } = next
    const undone = undoneStep(place)
    const step = stepAt(definition.steps, place)
    const head = { step: undone ?? place, ...(undone !== null && { undo: true }), ...aboutStep(step) }
    const { input, outcome, isSkipped } = await tryStep(engine, step, { event, steps: outputs }, dry)
    const failed = outcome instanceof Problem
    const status = isSkipped ? 'Skipped' : failed ? 'Failed' : 'Succeeded'
    outcomes.set(place, status)
    if (!failed && undone === null) outputs[place] = outcome
    const rest = failed ? { output: null, error: outcome.message } : { output: outcome, error: null }
    shown.push({ ...head, status, input, ...rest })
  }
}

interface Tried {
  readonly input: Json
  readonly outcome: Json | Problem
  readonly isSkipped?: boolean
}

/** Tries a step. Requests are shown and not sent; waits end at once, and questions have no answer. */
async function tryStep(engine: Engine, step: Step, sources: Sources, dry: DryRun): Promise<Tried> {
  try {
    const now = engine.nextTime()
    if (step.if && !passesCondition(step.if, sources, now)) return { input: null, outcome: null, isSkipped: true }
    if ('code' in step) return { input: null, outcome: await tryCode(engine, step.code, sources, dry) }
    if ('request' in step) return { input: shownRequest(step, sources), outcome: null }
    if ('until' in step) return { input: { until: isoOf(momentOf(step.until, sources)) }, outcome: null }
    if ('ask' in step) return { input: { ask: { ...step.ask, ...questionIn(step, sources) } }, outcome: null }
    if (isWaiting(step)) return { input: (resolve(aboutStep(step), sources) ?? null) as Json, outcome: null }
  } catch (reason) {
    return { input: null, outcome: problemOf(reason) }
  }
  const { input, calls } = callsOf(step as VerbStep, sources)
  if (calls instanceof Problem) return { input, outcome: calls }
  let outcome: Json | Problem = null
  for (const { type, operation, args } of calls) {
    const id: string | null = isPlainObject(outcome) ? ((outcome as JsonObject).$id as string) : null
    outcome = await dry.call(`${type}.${operation}`, id === null ? args : [id, {}]).catch(problemOf)
    if (outcome instanceof Problem) break
  }
  return { input, outcome }
}

async function tryCode(engine: Engine, code: string, { event, steps }: Sources, dry: DryRun): Promise<Json | Problem> {
  const { script } = engine.ports
  if (!script) return noScript()
  const { result, error } = await script.run({
    ...LIMITS,
    code: stepCall(code),
    owner: engine.slug,
    values: { event, steps: steps.map((one) => one ?? null) },
    call: (name, args, excuse) => dry.call(name, args, excuse),
  })
  return error ? new Problem(error.code, error.said || error.message) : (result ?? null)
}

/** The record that a workflow is tested on: a past event, or one that the body describes; null for a schedule. */
function recordIn(engine: Engine, grant: Grant, { pattern }: Definition, body: unknown): LogRow | null {
  const event = isPlainObject(body) ? body.event : undefined
  if (typeof event === 'string') {
    const record = readEntryOf(engine.sql, event)
    const seen = record && visibilityOf(engine, grant, null).show(record)
    if (seen) return seen
    throw new Problem('not_found', `There is no event ${event.slice(0, 60)}.`, { id: event, field: 'event' })
  }
  if (event === undefined && pattern === null) return null
  if (!isPlainObject(event)) {
    throw new Problem('invalid_body', 'Send the event to test on: {"event": "event_…"} or an event as an object.', {
      field: 'event',
    })
  }
  return described(engine, pattern, event as JsonObject)
}

/** A record that has not happened. */
function described(engine: Engine, pattern: string | null, event: JsonObject): LogRow {
  const data = isPlainObject(event.data) ? (event.data as JsonObject) : {}
  const [type = 'Event', name = 'created'] = (typeof event.type === 'string' ? event.type : (pattern ?? '')).split('.')
  const now = engine.nextTime()
  return {
    seq: engine.head.seq,
    id: typeof event.id === 'string' ? event.id : 'event_test',
    at: now,
    type,
    entity: String(data.$id ?? event.entityId ?? ''),
    verb: typeof event.verb === 'string' ? event.verb : name,
    event: name,
    version: 1,
    actor: 'test',
    correlation: null,
    recordedAt: null,
    onBehalfOf: null,
    createdAt: now,
    createdBy: 'test',
    data: JSON.stringify(data),
    previous: isPlainObject(event.previous) ? JSON.stringify(event.previous) : null,
    args: isPlainObject(event.args) ? JSON.stringify(event.args) : null,
  }
}

function viewOf(engine: Engine, record: LogRow | null, body: unknown): JsonObject {
  const given = isPlainObject(body) && isPlainObject(body.event) ? (body.event as JsonObject) : null
  if (record === null) return { type: 'Workflow.scheduled', timestamp: isoOf(engine.nextTime()), tenant: engine.slug }
  const view = eventView(record, engine)
  // What a test makes up stays as it was given, fields of its own included.
  return given ? { ...view, ...given, data: { ...(view.data as JsonObject), ...(given.data as JsonObject) } } : view
}

function problemOf(reason: unknown): Problem {
  if (reason instanceof Problem) return reason
  throw reason
}
