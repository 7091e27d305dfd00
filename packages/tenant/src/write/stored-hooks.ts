import { type JsonObject, Problem } from '@tildebase/nouns'
import { type Authored, authored, type Thing } from '../authorship/stored.ts'
import type { Engine } from '../engine/engine.ts'
import { asSteps, type Steps, type Stepwise } from '../engine/turns.ts'
import type { Clock, Random, Seal } from '../ports.ts'
import { type StoredHook, storedHooks } from '../store/automation/hooks.ts'

/** A hook that runs: its code comes with the rights of its author only. */
interface RunnableHook extends Pick<StoredHook, 'id' | 'type' | 'name' | 'version'> {
  readonly code: Authored<string>
}

/** A hook as a stored thing. */
export function hookThing({ id, type, name }: Pick<StoredHook, 'id' | 'type' | 'name'>): Thing {
  return { kind: 'hook', id, actor: `hook:${type}.${name}` }
}

/** What an author of a hook stores. */
export function hookForm({ type, name, code }: Pick<StoredHook, 'type' | 'name' | 'code'>) {
  return { type, name, code }
}

/** The author of a hook, with its code; null when no caller stored this code. */
export function authoredHook(engine: Engine, hook: Omit<StoredHook, 'version' | 'suspended'>): Authored<string> | null {
  return authored(engine, hookThing(hook), hook.code, hookForm(hook))
}

/** The code that the tenant stores for a step of a type: `Contact`, `qualifying`. A suspended hook does not run. */
export function storedHook(engine: Engine, type: string, step: string): RunnableHook | undefined {
  const hooks = runnable(engine)
  return hooks.size === 0 ? undefined : hooks.get(`${type}.${step}`)
}

/** Whether the tenant stores any hook at all. */
export function hasStoredHooks(engine: Engine): boolean {
  return hooksByStep(engine).size > 0
}

/** All hooks that the tenant stores, by `Type.step`, to look at. */
export function hooksByStep(engine: Engine): ReadonlyMap<string, StoredHook> {
  return engine.cache.get(
    ['Hook'],
    'stored hooks',
    () => new Map(storedHooks(engine.sql).map((hook) => [`${hook.type}.${hook.name}`, hook])),
  )
}

function runnable(engine: Engine): ReadonlyMap<string, RunnableHook> {
  return engine.cache.get(['Hook'], 'runnable hooks', () => {
    const hooks = [...hooksByStep(engine)].filter(([, hook]) => !hook.suspended)
    return new Map(
      hooks.flatMap(([step, hook]) => {
        const code = authoredHook(engine, hook)
        const { id, type, name, version } = hook
        return code ? [[step, { id, type, name, version, code }] as const] : []
      }),
    )
  })
}

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
  *attempt<T>(work: (random: Random) => Stepwise<T>): Steps<T> {
    this.#open = new Map()
    this.#seed ??= newSeed(this.#random)
    try {
      const result = yield* asSteps(work(seededRandom(this.#seal, this.#seed)))
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

const SEED_LENGTH = 32

/** Chance that comes out the same each time it is begun again: what is run twice then gives the same ids. */
export function seededRandom(seal: Seal, seed: Uint8Array): Random {
  let block = 0
  let pool = new Uint8Array()
  return {
    bytes(count) {
      const bytes = new Uint8Array(count)
      for (let filled = 0; filled < count; ) {
        if (pool.length === 0) pool = new Uint8Array(seal.sha256(seed, String(block++)))
        const part = pool.subarray(0, count - filled)
        bytes.set(part, filled)
        filled += part.length
        pool = pool.subarray(part.length)
      }
      return bytes
    },
  }
}

/** A random seed. */
export function newSeed(random: Random): Uint8Array {
  return random.bytes(SEED_LENGTH)
}
