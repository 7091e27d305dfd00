import { type Noun, Problem } from '@tildebase/nouns'
import { asSteps, done, type Steps, toEnd } from '../engine/turns.ts'
import { demand, isNarrowed, writing } from '../grant/grant.ts'
import { grantOn } from '../query/rights/comment-rows.ts'
import { isSeen, isVisible } from '../query/rights/visible-entity.ts'
import { applyVerb, notFound } from './verb.ts'
import type { RunResult, VerbRequest } from './verb-request.ts'
import { demandVerb, type SpecialVerb, type Write } from './write.ts'

/** A verb that a client asks for. */
export type Operation = Omit<VerbRequest, 'internalVerb' | 'serviceFields'>

/** Runs a verb with the rights of the write's grant. The one way in for REST, batch, MCP, sync, imports and code. */
export function runVerb(given: Write, operation: Operation): RunResult {
  const { write, noun, request, run } = allowed(given, operation)
  const { recorder } = write.context
  const perform = () =>
    isNarrowed(write.grant)
      ? write.attempt(() => toEnd(narrowly(write, noun, request, run)))
      : done(run(write, request))
  return issued(write, recorder ? recorder.run(write, noun, request, perform) : perform())
}

/** The same step by step, for a verb that is all of its write: if it fails, nothing else is to be kept. */
export function* runVerbInSteps(given: Write, operation: Operation): Steps<RunResult> {
  if (given.context.recorder) return runVerb(given, operation)
  const { write, noun, request, run } = allowed(given, operation)
  const result = isNarrowed(write.grant)
    ? yield* narrowly(write, noun, request, run)
    : yield* asSteps(run(write, request))
  return issued(write, result)
}

interface Allowed {
  /** The write with the rights that the grant has on the type. */
  readonly write: Write
  readonly noun: Noun
  readonly request: VerbRequest
  readonly run: SpecialVerb
}

/** Refuses a verb that the grant does not allow. */
function allowed(given: Write, operation: Operation): Allowed {
  const noun = given.engine.noun(operation.type)
  const { recorder } = given.context
  const needed = writing(given.grant, noun)
  const grant = recorder ? given.grant : grantOn(given.engine, given.grant, noun, needed)
  const write = grant === given.grant ? given : given.as(grant)
  demand(grant, recorder && needed === 'write' ? 'propose' : needed, noun)
  demandVerb(write.grant, noun.name, operation.verb)
  const request: VerbRequest = noun.name === operation.type ? operation : { ...operation, type: noun.name }
  return { write, noun, request, run: write.extensions.verbs[`${noun.name}.${request.verb}`] ?? applyVerb }
}

function issued(write: Write, result: RunResult): RunResult {
  if (result.secret !== undefined) write.context.secrets.add(result.secret)
  return result
}

/** A narrowed grant touches only rows that it sees before, and leaves only rows that it sees after. */
function* narrowly(write: Write, noun: Noun, request: VerbRequest, run: SpecialVerb): Steps<RunResult> {
  const { engine, grant, context } = write
  const id = request.id ?? ''
  const sees = request.verb === 'restore' ? isSeen : isVisible
  if (request.verb !== 'create' && !sees(engine, grant, noun, id, context.budget)) throw notFound(noun.name, id)
  const result = yield* asSteps(run(write, request))
  if (request.verb === 'delete' || isVisible(engine, grant, noun, result.entity.id, context.budget)) return result
  throw new Problem(
    'forbidden',
    `This key cannot write a ${noun.name} with these values, because its row filter does not match them.`,
    { type: noun.name },
  )
}
