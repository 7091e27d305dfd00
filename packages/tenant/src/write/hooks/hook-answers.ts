import { type JsonObject, Problem } from '@tildebase/nouns'
import type { Clock, Random, Seal } from '../../ports.ts'
import { newSeed, seededRandom } from '../seeded.ts'
import type { RunnableHook } from './stored-hooks.ts'

/** What a stored BEFORE hook is asked about one verb on one version of one entity. */
export interface HookQuestion {
  readonly key: string
  readonly hook: RunnableHook
  readonly verb: string
  readonly entity: JsonObject
  readonly args: JsonObject
}

/** Thrown by an attempt that found hooks to ask first. Nothing of it is kept. */
export const HOOKS_PENDING = new Problem('busy', 'A hook has to run first.')

/**
 * What stored BEFORE hooks answered about a write. A transaction cannot wait and a hook runs on another thread, so the
 * write is attempted, its questions are answered, and it is attempted again, until none is new. An answer is valid for
 * the very entity, version and payload that it was given for. Each attempt uses the same random numbers and the same
 * time, so that its ids, and the payloads that contain them, are the same.
 */
export class HookAnswers {
  readonly #answers = new Map<string, JsonObject | Problem>()
  #open = new Map<string, HookQuestion>()
  readonly #seal: Seal
  readonly #random: Random
  #seed: Uint8Array | null = null
  /** A clock that stays at the time of its first reading. */
  readonly clock: Clock

  constructor(seal: Seal, random: Random, clock: Clock) {
    this.#seal = seal
    this.#random = random
    let now: number | null = null
    this.clock = {
      now: () => {
        now ??= clock.now()
        return now
      },
    }
  }

  /** The questions that the last attempt left open. */
  get open(): readonly HookQuestion[] {
    return [...this.#open.values()]
  }

  learn(question: HookQuestion, answer: JsonObject | Problem): void {
    this.#answers.set(question.key, answer)
  }

  /** Runs one attempt, inside its transaction, with random numbers that repeat. */
  attempt<T>(work: (random: Random) => T): T {
    this.#open = new Map()
    this.#seed ??= newSeed(this.#random)
    try {
      const result = work(seededRandom(this.#seal, this.#seed))
      if (this.#open.size === 0) return result
    } catch (reason) {
      if (this.#open.size === 0) throw reason
    }
    // Also when the work caught what a question threw, as a batch does for each of its operations.
    throw HOOKS_PENDING
  }

  /** The result of a hook. Without one, the call is noted and the attempt ends. */
  answerTo(question: Omit<HookQuestion, 'key'>): JsonObject {
    const { hook, verb, entity, args } = question
    const key = JSON.stringify([hook.id, hook.version, verb, entity, args])
    const answer = this.#answers.get(key)
    if (answer instanceof Problem) throw answer
    if (answer) return answer
    this.#open.set(key, { ...question, key })
    throw HOOKS_PENDING
  }
}
