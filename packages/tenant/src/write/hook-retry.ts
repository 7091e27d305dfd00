import { type JsonObject, Problem } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import type { Clock } from '../ports.ts'
import { hasStoredHooks } from '../services/scripts/stored.ts'
import type { StoredHook } from '../store/hooks.ts'
import { newSeed, seededRandom } from './seeded.ts'

/** What a stored BEFORE hook has to say about one verb on one version of one entity. */
export interface Question {
  readonly key: string
  readonly hook: StoredHook
  readonly verb: string
  readonly entity: JsonObject
  readonly args: JsonObject
}

/** Thrown by an attempt that found hooks to be asked first. Nothing of it is kept. */
export const WAITING = new Problem('busy', 'A hook has to be asked first.')

/**
 * A write and what stored BEFORE hooks said about it. A transaction cannot wait and a hook runs on another thread, so
 * the write is attempted, its questions are answered, and it is attempted again, until none is new. An answer holds for
 * the very entity, version and payload it was given for. Each attempt draws the same chance, so that its ids, and the
 * payloads that name them, are the same.
 */
export class HookRetry {
  readonly #answers = new Map<string, JsonObject | Problem>()
  #wanted = new Map<string, Question>()
  #seed: Uint8Array | null = null
  #clock: Clock | null = null

  /** The questions that the last attempt left open. */
  get wanted(): readonly Question[] {
    return [...this.#wanted.values()]
  }

  learn(question: Question, answer: JsonObject | Problem): void {
    this.#answers.set(question.key, answer)
  }

  /** Attempts the write, inside its transaction. */
  attempt<T>(tenant: Engine, work: () => T): T {
    if (!hasStoredHooks(tenant)) return work()
    const outer = tenant.trial
    tenant.trial = this
    this.#wanted = new Map()
    try {
      const result = tenant.with(this.#ports(tenant), work)
      if (this.#wanted.size === 0) return result
    } catch (reason) {
      if (this.#wanted.size === 0) throw reason
    } finally {
      tenant.trial = outer
    }
    // Also when the work caught what a question threw, as a batch does for each of its operations.
    throw WAITING
  }

  /** The answer to a question; without one it is noted, and the attempt is in vain. */
  ask(question: Question): JsonObject {
    const answer = this.#answers.get(question.key)
    if (answer instanceof Problem) throw answer
    if (answer) return answer
    this.#wanted.set(question.key, question)
    throw WAITING
  }

  #ports(tenant: Engine) {
    const { clock, random, seal } = tenant.ports
    const now = clock.now()
    this.#seed ??= newSeed(random)
    this.#clock ??= { now: () => now }
    return { random: seededRandom(seal, this.#seed), clock: this.#clock }
  }
}

/** What the stored hook before a verb changes in the payload. */
export function askStoredHook(
  tenant: Engine,
  hook: StoredHook,
  verb: string,
  entity: JsonObject,
  args: JsonObject,
): JsonObject {
  if (!tenant.trial) {
    throw new Problem(
      'not_supported',
      `${hook.type}.${hook.name} has a stored hook, which cannot be asked from inside other code of the service.`,
      { type: hook.type },
    )
  }
  const key = JSON.stringify([hook.id, hook.version, verb, entity, args])
  return tenant.trial.ask({ key, hook, verb, entity, args })
}
