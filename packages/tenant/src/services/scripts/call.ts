import { isPlainObject, type Json, listed, Problem, resolveLens } from '@tildebase/nouns'
import { Budget } from '../../budget.ts'
import { BUILT_IN, builtInMetric } from '../../business/metrics/builtin.ts'
import { snapshot } from '../../business/metrics/snapshot.ts'
import { asOfTime } from '../../business/view.ts'
import type { Engine } from '../../engine/engine.ts'
import { briefOrInTurns, done, inTurns, type Steps, type Stepwise, timerOf } from '../../engine/turns.ts'
import { limitOf } from '../../query/parameters/limits.ts'
import { asOfSeq } from '../../query/parameters/parameters.ts'
import { readContextOf } from '../../query/read-context.ts'
import { visibilityOf } from '../../query/rights/visibility.ts'
import { eventView } from '../../view/event.ts'
import type { Write } from '../../write/write.ts'
import { type Changes, changesAfter, changesInSteps } from '../events/changes.ts'
import { type CodeQuestion, isReadOperation, type Reading, readQuestion, writeOperation } from '../session.ts'
import { undo } from '../undo.ts'
import { cancelRun, retryRun } from '../workflows/manage.ts'
import { answer, asksOf, askWith } from '../workflows/steps/ask.ts'
import { runsOf, runWithId } from '../workflows/view.ts'
import { LIMITS } from './limits.ts'

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

/** What code may read in one run if nothing else bounds it: for as long as it may run. */
export function codeBudget({ ports }: Engine): Budget {
  const most = Number.POSITIVE_INFINITY
  return new Budget({ ms: LIMITS.timeMs, rows: most, bytes: most }, timerOf(ports))
}

/** Answers a call that only reads: a promise where that takes long, with turns for others. */
export function answerRead(reading: Reading & { readonly budget: Budget }, call: ScriptCall): Json | Promise<Json> {
  const { whole, steps, isLong = false } = questionOf(reading, call)
  if (!steps) return whole()
  const { turns } = reading.engine.ports
  return isLong ? inTurns(turns, steps()) : briefOrInTurns(turns, reading.budget, whole, steps)
}

function questionOf(reading: Reading, call: ScriptCall): CodeQuestion {
  const { type, operation, args } = call
  if (type === 'asks') return { whole: () => asksFor(reading, call) }
  if (type === 'events') return eventsFor(reading, call)
  if (type === 'metrics' && operation === 'list') return { whole: () => metricsFor(reading, call) }
  if (type === 'Workflow' && (operation === 'runs' || operation === 'run'))
    return { whole: () => runsFor(reading, call) }
  return readQuestion(reading, type, operation, args)
}

/** Answers any call inside a write. */
export function answerIn(write: Write, call: ScriptCall): Json {
  return done(answerInSteps(write, call))
}

/** The same in steps, if it has any. */
export function answerInSteps(write: Write, call: ScriptCall): Stepwise<Json> {
  const { engine, grant, context } = write
  const { budget, lens, url } = context
  if (isRead(call)) {
    const { whole, steps } = questionOf({ engine, grant, budget, ...(lens && { lens }), url }, call)
    return steps ? steps() : whole()
  }
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
function eventsFor({ engine, grant, url }: Reading, { operation, args }: ScriptCall): CodeQuestion {
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
  const most = limit === undefined ? 100 : limitOf(limit, MOST_EVENTS)
  const shown = ({ rows }: Changes) =>
    rows.map((row) => eventView(row, { slug: engine.slug, context: url ?? engine.context }))
  const whole = () => shown(changesAfter(engine, grant, patterns, from, most))
  if (visibilityOf(engine, grant, patterns).byName) return { whole }
  return {
    whole,
    isLong: true,
    *steps() {
      return shown(yield* changesInSteps(engine, grant, patterns, from, most))
    },
  }
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
