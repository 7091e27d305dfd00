import { type JsonObject, type Noun, Problem, type Verb } from '@tildebase/nouns'
import { rejected } from '../engine/hooks.ts'
import { grantFor } from '../grant/grant.ts'
import type { Current } from '../store/entities.ts'
import { entityView } from '../view/entity.ts'
import { storedHook } from './stored-hooks.ts'
import type { Write } from './write.ts'

/** Runs the BEFORE hooks of a verb. Each may change the payload or refuse the verb. */
export function askBeforeHooks(
  write: Write,
  noun: Noun,
  verb: Verb,
  given: JsonObject,
  current: Current | null,
): JsonObject {
  const { engine } = write
  let payload = given
  for (const hook of engine.options.hooks?.before(noun.name, verb.before) ?? []) {
    const session = write.extensions.session(write.as(grantFor(`hook:${noun.name}.${verb.before}`)))
    try {
      const changed = hook(shown(write, current, payload), session, payload)
      if (changed) payload = { ...payload, ...changed }
    } catch (reason) {
      throw rejected(noun.name, verb.name, reason)
    }
  }
  const hook = storedHook(engine, noun.name, verb.before)
  if (!hook) return payload
  const { hookAnswers } = write.context
  if (hookAnswers === null) {
    throw new Problem(
      'not_supported',
      `${hook.type}.${hook.name} has a stored hook, which cannot run inside other code of the service.`,
      { type: hook.type },
    )
  }
  const entity = shown(write, current, payload)
  return { ...payload, ...hookAnswers.answerTo({ hook, verb: verb.name, entity, args: payload }) }
}

/** The entity as a hook sees it: its state with the payload over it. */
function shown({ engine }: Write, current: Current | null, payload: JsonObject): JsonObject {
  return current ? { ...entityView(current, engine.context), ...payload } : payload
}
