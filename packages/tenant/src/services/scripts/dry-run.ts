import type { Json, JsonObject } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { shownEvents } from '../../query/visibility.ts'
import { newSeed, seededRandom } from '../../write/seeded.ts'
import type { Write } from '../../write/write.ts'
import { answerIn, isRead, type ScriptCall, scriptCall } from './call.ts'

/** A write that went well, with what it needs to come out the same again. */
interface Step {
  readonly call: ScriptCall
  readonly seed: Uint8Array
  readonly at: number
}

/**
 * Code that runs without a trace. It runs on another thread and may take seconds, so no transaction can stay open for
 * it: each operation is run in one of its own, after all writes before it, with the same ids and times, and undone.
 */
export class DryRun {
  readonly #engine: Engine
  readonly #grant: Grant
  readonly #run: <T>(work: (write: Write) => T) => Promise<T>
  readonly #steps: Step[] = []
  #events: readonly JsonObject[] = []

  constructor(engine: Engine, grant: Grant, run: <T>(work: (write: Write) => T) => Promise<T>) {
    this.#engine = engine
    this.#grant = grant
    this.#run = run
  }

  /** The events that the writes so far would have written. */
  get events(): readonly JsonObject[] {
    return this.#events
  }

  async call(name: string, args: readonly Json[]): Promise<Json> {
    const { clock, random } = this.#engine.ports
    const step: Step = { call: scriptCall(name, args), seed: newSeed(random), at: clock.now() }
    const { result, events } = await this.#run((write) =>
      write.transaction.dryRun(() => {
        for (const earlier of this.#steps) this.#take(write, earlier)
        return this.#take(write, step)
      }),
    )
    if (!isRead(step.call)) {
      this.#steps.push(step)
      this.#events = shownEvents(this.#engine, this.#grant, events)
    }
    return withoutSecret(result)
  }

  #take(write: Write, { call, seed, at }: Step): Json {
    const random = seededRandom(this.#engine.ports.seal, seed)
    return answerIn(write.within({ random, clock: { now: () => at }, isDryRun: true }), call)
  }
}

/** A secret that was never issued is not shown. */
function withoutSecret(value: Json): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { secret: _, ...rest } = value as JsonObject
  return rest
}
