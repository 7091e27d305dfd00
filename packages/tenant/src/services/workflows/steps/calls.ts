import { type Json, type JsonObject, Problem } from '@tildebase/nouns'
import type { Write } from '../../../write/write.ts'
import { escaped } from '../../mail/markdown.ts'
import { answerIn, type ScriptCall } from '../../scripts/call.ts'
import { resolveTexts, type Sources } from '../values.ts'
import type { Step, VerbStep } from './step.ts'

/** The calls of a step on the tenant, with their values resolved; a problem when the id that it names is not there. */
export function callsOf(
  step: VerbStep | Extract<Step, { readonly send: JsonObject }>,
  sources: Sources,
): { readonly input: JsonObject; readonly calls: readonly ScriptCall[] | Problem } {
  if ('send' in step) {
    const message: JsonObject = { channel: 'Email', ...argsOf('Message', step.send, sources) }
    const calls = ['create', 'send'].map((operation) => ({ type: 'Message', operation, args: [message] }))
    return { input: { send: message }, calls }
  }
  const args = argsOf(step.type, step.args ?? {}, sources)
  const id = step.id === undefined ? undefined : resolveTexts(step.id, sources)
  if (step.id !== undefined && typeof id !== 'string') {
    const message = `The id of the step, ${step.id}, has no value.`
    return { input: { args }, calls: new Problem('invalid_parameter', message, { field: 'id' }) }
  }
  const given = typeof id === 'string' ? [id, args] : [args]
  return {
    input: { ...(typeof id === 'string' && { id }), args },
    calls: [{ type: step.type, operation: step.verb, args: given }],
  }
}

/** The arguments of a verb with their values. In the HTML of a message, values are text. */
function argsOf(type: string, given: JsonObject, sources: Sources): JsonObject {
  const args = resolveTexts(given, sources) as JsonObject
  const { html } = given
  if (type !== 'Message' || typeof html !== 'string' || args.html === undefined) return args
  return { ...args, html: resolveTexts(html, sources, escaped)! }
}

/** Answers calls one after the other; each later one is about the entity that the first gave. */
export function answerCalls(write: Write, [first, ...rest]: readonly ScriptCall[]): Json {
  let result = answerIn(write, first!)
  for (const call of rest) result = answerIn(write, { ...call, args: [(result as JsonObject).$id!, {}] })
  return result
}
