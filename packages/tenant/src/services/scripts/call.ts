import { isPlainObject, type Json, listed, Problem, resolveLens } from '@tildebase/nouns'
import { BUILT_IN, builtInMetric } from '../../business/metrics/builtin.ts'
import { snapshot } from '../../business/metrics/snapshot.ts'
import { asOfTime } from '../../business/view.ts'
import { done, type Steps, type Stepwise } from '../../engine/turns.ts'
import { limitOf } from '../../query/parameters/limits.ts'
import { asOfSeq } from '../../query/parameters/parameters.ts'
import { readContextOf } from '../../query/read-context.ts'
import { eventView } from '../../view/event.ts'
import type { Write } from '../../write/write.ts'
import { changesAfter } from '../events/changes.ts'
import { isReadOperation, type Reading, readOperation, writeOperation } from '../session.ts'
import { undo } from '../undo.ts'
import { cancelRun, retryRun } from '../workflows/manage.ts'
import { answer, asksOf, askWith } from '../workflows/steps/ask.ts'
import { runsOf, runWithId } from '../workflows/view.ts'

const MOST_EVENTS = 1_000

/** One call of code that runs elsewhere: `Contact.find` with its arguments. */
export interface ScriptCall {
  readonly type: string
  readonly operation: string
  readonly args: readonly Json[]
}

/** The call of a name and its arguments, as code sends them. */
export function scriptCall(name: string, args: readonly Json[]): ScriptCall {
  const dot = name.indexOf('.')
  return dot === -1
    ? { type: name, operation: 'list', args }
    : { type: name.slice(0, dot), operation: name.slice(dot + 1), args }
}

/** Whether a call only reads. */
export function isRead({ type, operation }: ScriptCall): boolean {
  if (type === 'Workflow' && (operation === 'runs' || operation === 'run')) return true
  if (type === 'asks') return operation === 'list' || operation === 'get'
  return type === 'events' || (type === 'metrics' && operation === 'list') || isReadOperation(operation)
}

/** Answers a call that only reads. */
export function answerRead(reading: Reading, call: ScriptCall): Json {
  if (call.type === 'asks') return asksFor(reading, call)
  if (call.type === 'events') return eventsFor(reading, call)
  if (call.type === 'metrics' && call.operation === 'list') return metricsFor(reading, call)
  if (call.type === 'Workflow' && (call.operation === 'runs' || call.operation === 'run')) return runsFor(reading, call)
  return readOperation(reading, call.type, call.operation, call.args)
}

/** Answers any call inside a write. */
export function answerIn(write: Write, call: ScriptCall): Json {
  return done(answerInSteps(write, call))
}

/** The same in steps, if it has any. */
export function answerInSteps(write: Write, call: ScriptCall): Stepwise<Json> {
  const { engine, grant, context } = write
  const { budget, lens, url } = context
  if (isRead(call)) return answerRead({ engine, grant, budget, ...(lens && { lens }), url }, call)
  if (call.type === 'asks') return answering(write, call)
  if (call.type === 'undo' && call.operation === 'list') return undoing(write, call)
  if (call.type === 'Workflow' && call.operation === 'retryRun') return retryRun(write, ...idsIn(call))
  if (call.type === 'Workflow' && call.operation === 'cancelRun') return cancelRun(write, ...idsIn(call))
  return writeOperation(write, call.type, call.operation, call.args)
}

function* undoing(write: Write, call: ScriptCall): Steps<Json> {
  return { ...(yield* undo(write, correlationIn(call))) }
}

/** `$.asks.list({limit, cursor})`: the questions that wait, the oldest first; `$.asks.get(id)`: one of them. */
function asksFor({ engine, grant }: Reading, { operation, args: [first] }: ScriptCall): Json {
  if (operation === 'get') return askWith(engine, grant, String(first))
  const { cursor = null, limit = 25 } = isPlainObject(first) ? first : {}
  return asksOf(engine, grant, { cursor: cursor === null ? null : String(cursor), limit: limitOf(limit) })
}

/** `$.asks.answer(id, answer, fields)`, for a caller with the right to answer. */
function answering(write: Write, { operation, args: [id, given, fields] }: ScriptCall): Json {
  if (operation === 'answer' && typeof id === 'string') return answer(write, id, { answer: given, fields })
  throw new Problem('invalid_parameter', 'Call $.asks.list(), $.asks.get(id) or $.asks.answer(id, answer, fields).')
}

/** `$.Workflow.runs(id, {status, limit, cursor})`, newest first; `$.Workflow.run(id, run)`: one with its steps. */
function runsFor({ engine, grant }: Reading, call: ScriptCall): Json {
  if (call.operation === 'run') return runWithId(engine, grant, ...idsIn(call))
  const [id, options] = call.args
  const { status = null, cursor = null, limit = 25 } = isPlainObject(options) ? options : {}
  const text = (value: unknown) => (value === null ? null : String(value))
  return runsOf(engine, grant, String(id), { status: text(status), cursor: text(cursor), limit: limitOf(limit) })
}

function idsIn({ operation, args: [id, run] }: ScriptCall): [workflow: string, run: string] {
  if (typeof id === 'string' && typeof run === 'string') return [id, run]
  throw new Problem('invalid_parameter', `Call $.Workflow.${operation}(id, run) with the ids of a workflow and a run.`)
}

/** `$.events({type: 'Contact.*', since, after, limit})`: the change stream, oldest first. */
function eventsFor({ engine, grant, url }: Reading, { operation, args }: ScriptCall): Json {
  const options = args[0] ?? {}
  if (operation !== 'list' || !isPlainObject(options)) {
    throw new Problem(
      'invalid_parameter',
      'Call $.events({type, since, after, limit}); after is the seq of the last event you have seen.',
    )
  }
  const { type, since, after, limit } = options
  const patterns = type === undefined ? null : [type].flat().map(String)
  const from = since === undefined ? Number(after ?? 0) : asOfSeq(engine, since)
  const { rows } = changesAfter(engine, grant, patterns, from, limit === undefined ? 100 : limitOf(limit, MOST_EVENTS))
  return rows.map((row) => eventView(row, { slug: engine.slug, context: url ?? engine.context }))
}

/** `$.metrics({asOf})`: the metrics snapshot; `$.metrics('mrr', {asOf})`: one of its numbers with its last months. */
function metricsFor({ engine, grant, budget, lens }: Reading, { args }: ScriptCall): Json {
  const [name, options] = typeof args[0] === 'string' ? [args[0], args[1]] : [null, args[0]]
  const given = isPlainObject(options) ? options.asOf : undefined
  const asOf = given === undefined ? null : asOfTime(engine, given)
  const reader = readContextOf(engine, grant, budget)
  if (name === null) return snapshot(engine, grant, reader, lens ?? resolveLens([]), asOf)
  const metric = builtInMetric(engine, grant, reader, name, asOf)
  if (metric) return metric
  throw new Problem(
    'not_found',
    `There is no built-in metric ${name}. The built-in metrics are ${listed(Object.keys(BUILT_IN))}.`,
    {
      type: 'Metric',
      id: name,
    },
  )
}

function correlationIn({ args }: ScriptCall): string {
  if (typeof args[0] === 'string') return args[0]
  throw new Problem('invalid_parameter', 'Call $.undo(correlation) with the correlation of a run or a batch.')
}
