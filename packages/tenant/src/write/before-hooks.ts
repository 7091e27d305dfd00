import { type JsonObject, type Noun, Problem, sameJson, type Verb } from '@tildebase/nouns'
import { act } from '../authorship/stored.ts'
import { rejected } from '../engine/hooks.ts'
import { covers, type Grant, grantFor, may, writing } from '../grant/grant.ts'
import { isServiceType } from '../grant/scopes.ts'
import type { Current } from '../store/entities.ts'
import { entityView } from '../view/entity.ts'
import { unseenReferences } from './references.ts'
import { storedHook } from './stored-hooks.ts'
import type { Write } from './write.ts'

/**
 * Runs the BEFORE hooks of a verb. Each may change the payload or refuse the verb. Stored hooks have no say about the verbs of
 * the service itself, which no client can name, nor about a past that is imported.
 */
export function askBeforeHooks(
  write: Write,
  noun: Noun,
  verb: Verb,
  given: JsonObject,
  current: Current | null,
  isInternal: boolean,
): JsonObject {
  const { engine } = write
  if (write.context.past) return given
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
  const hook = isInternal ? undefined : storedHook(engine, noun.name, verb.before)
  if (!hook) return payload
  const { grant } = act(hook.code)
  // Its author lost the type, for example because the type moved to another domain.
  if (!may(grant, 'write', noun)) return payload
  const { hookAnswers } = write.context
  if (hookAnswers === null) {
    throw new Problem(
      'not_supported',
      `${hook.type}.${hook.name} has a stored hook, which cannot run inside other code of the service.`,
      { type: hook.type },
    )
  }
  const entity = shown(write, current, payload)
  const answer = hookAnswers.answerTo({ hook, verb: verb.name, entity, args: payload })
  return { ...payload, ...allowedChanges(write, grant, noun, payload, answer) }
}

/** The changes of a hook that both its author and the caller may write. The others are left out. */
function allowedChanges(write: Write, author: Grant, noun: Noun, payload: JsonObject, answer: JsonObject): JsonObject {
  const changed = Object.entries(answer).filter(([field, value]) => !sameJson(payload[field] ?? null, value))
  if (changed.length === 0) return answer
  // Entities of the service's own types act with the rights of the caller who stores them.
  if (isServiceType(noun.name) && !mayActFor(write, author, noun)) return {}
  const unseen = new Set(
    [author, write.grant].flatMap((grant) => unseenReferences(write.engine, grant, noun, Object.fromEntries(changed))),
  )
  return Object.fromEntries(changed.filter(([field]) => !unseen.has(field)))
}

function mayActFor({ engine, grant }: Write, author: Grant, noun: Noun): boolean {
  const domainOf = (area: string) => engine.nouns.get(area)?.domain ?? null
  return may(author, writing(author, noun), noun) && covers(author, grant, domainOf)
}

/** The entity as a hook sees it: its state with the payload over it. */
function shown({ engine }: Write, current: Current | null, payload: JsonObject): JsonObject {
  return current ? { ...entityView(current, engine.context), ...payload } : payload
}
