import { isPlainObject, type Json, Problem } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { asOfSeq, limitOf } from '../../query/parameters.ts'
import { eventView } from '../../view/event.ts'
import { changesAfter } from '../events/changes.ts'
import { operate } from '../session.ts'

const READS = new Set(['find', 'findOne', 'get', 'count'])
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
  return type === 'events' || READS.has(operation)
}

/** Answers a call for somebody. A write belongs inside a transaction. */
export function answerCall(tenant: Engine, grant: Grant, call: ScriptCall, correlation: string | null): Json {
  if (call.type === 'events') return eventsFor(tenant, grant, call)
  return operate(tenant, grant, call.type, call.operation, call.args, correlation)
}

/** `$.events({type: 'Contact.*', since, after, limit})`: the change stream, oldest first. */
function eventsFor(tenant: Engine, grant: Grant, { operation, args }: ScriptCall): Json {
  const options = args[0] ?? {}
  if (operation !== 'list' || !isPlainObject(options)) {
    throw new Problem(
      'invalid_parameter',
      'Call $.events({type, since, after, limit}); after is the seq of the last event you have seen.',
    )
  }
  const { type, since, after, limit } = options
  const patterns = type === undefined ? null : [type].flat().map(String)
  const from = since === undefined ? Number(after ?? 0) : asOfSeq(tenant, since)
  const { rows } = changesAfter(tenant, grant, patterns, from, limit === undefined ? 100 : limitOf(limit, MOST_EVENTS))
  return rows.map((row) => eventView(row, tenant))
}
