import { type Noun, Problem } from '@tildebase/nouns'
import { demand, isNarrowed, writing } from '../grant/grant.ts'
import { isSeen, isVisible } from '../query/rights/visible-entity.ts'
import { demandVerb } from './limits.ts'
import { applyVerb, notFound } from './verb.ts'
import type { RunResult, VerbRequest } from './verb-request.ts'
import type { SpecialVerb, Write } from './write.ts'

/** A verb that a client asks for. */
export type Operation = Omit<VerbRequest, 'internalVerb' | 'serviceFields'>

/** Runs a verb with the rights of the write's grant. The one way in for REST, batch, MCP, sync, imports and code. */
export function runVerb(write: Write, operation: Operation): RunResult {
  const noun = write.engine.noun(operation.type)
  const { recorder } = write.context
  const needed = writing(write.grant, noun)
  demand(write.grant, recorder && needed === 'write' ? 'propose' : needed, noun)
  demandVerb(write.grant, noun.name, operation.verb)
  const request: VerbRequest = noun.name === operation.type ? operation : { ...operation, type: noun.name }
  const special: SpecialVerb = write.extensions.verbs[`${noun.name}.${request.verb}`] ?? applyVerb
  const result = recorder
    ? recorder.run(write, noun, request, () => perform(write, noun, request, special))
    : perform(write, noun, request, special)
  if (result.secret !== undefined) write.context.secrets.add(result.secret)
  return result
}

function perform(write: Write, noun: Noun, request: VerbRequest, run: SpecialVerb): RunResult {
  return isNarrowed(write.grant) ? narrowly(write, noun, request, run) : run(write, request)
}

/** A narrowed grant touches only rows that it sees before, and leaves only rows that it sees after. */
function narrowly(write: Write, noun: Noun, request: VerbRequest, run: SpecialVerb): RunResult {
  const { engine, grant, context } = write
  const id = request.id ?? ''
  const sees = request.verb === 'restore' ? isSeen : isVisible
  if (request.verb !== 'create' && !sees(engine, grant, noun, id, context.budget)) throw notFound(noun.name, id)
  return write.attempt(() => {
    const result = run(write, request)
    if (request.verb === 'delete' || isVisible(engine, grant, noun, result.entity.id, context.budget)) return result
    throw new Problem(
      'forbidden',
      `This key cannot write a ${noun.name} with these values, because its row filter does not match them.`,
      { type: noun.name },
    )
  })
}
