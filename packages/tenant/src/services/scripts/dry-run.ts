import type { Json, JsonObject } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { shownEvents } from '../../query/rights/visibility.ts'
import { Recorder } from '../../write/recorder.ts'
import { newSeed, seededRandom } from '../../write/stored-hooks.ts'
import type { Write } from '../../write/write.ts'
import { answerIn, isRead, type ScriptCall, scriptCall } from './call.ts'

/** A write that went well, with what it needs to come out the same again. */
interface Step {
  readonly call: ScriptCall
  readonly seed: Uint8Array
  readonly at: number
}

/** What a dry run begins with, for code that adds to a proposal. */
export type Beginning = (write: Write) => void

/**
 * Code that runs without a trace. It runs on another thread and may take seconds, so no transaction can stay open for
 * it: each operation is run in its own, after all writes before it, with the same ids and times, and undone.
 */
export class DryRun {
  readonly #engine: Engine
  readonly #grant: Grant
  readonly #run: <T>(work: (write: Write) => T) => Promise<T>
  readonly #begin: Beginning | null
  readonly #steps: Step[] = []
  #events: readonly JsonObject[] = []

  /** With `begin`, what the code writes is to be proposed, and the rights to propose suffice. */
  constructor(
    engine: Engine,
    grant: Grant,
    run: <T>(work: (write: Write) => T) => Promise<T>,
    begin: Beginning | null = null,
  ) {
    this.#engine = engine
    this.#grant = grant
    this.#run = run
    this.#begin = begin
  }

  /** The events that the writes so far would have written. */
  get events(): readonly JsonObject[] {
    return this.#events
  }

  /** Whether anything was written so far. */
  get wrote(): boolean {
    return this.#steps.length > 0
  }

  async call(name: string, args: readonly Json[]): Promise<Json> {
    const { clock, random } = this.#engine.ports
    const step: Step = { call: scriptCall(name, args), seed: newSeed(random), at: clock.now() }
    const { result, events } = await this.#run((write) =>
      write.transaction.dryRun(() => {
        this.#begin?.(write)
        const trial = this.#begin ? write.within({ recorder: new Recorder() }) : write
        this.replay(trial)
        return this.#take(trial, step)
      }),
    )
    if (!isRead(step.call)) {
      this.#steps.push(step)
      this.#events = shownEvents(this.#engine, this.#grant, events)
    }
    return withoutSecret(result)
  }

  /** Runs the writes so far, inside another write. */
  replay(write: Write): void {
    for (const step of this.#steps) this.#take(write, step)
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
