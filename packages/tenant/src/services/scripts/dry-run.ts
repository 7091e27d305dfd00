import type { Json, JsonObject } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { asSteps, type Steps, type Stepwise } from '../../engine/turns.ts'
import type { Grant } from '../../grant/grant.ts'
import { shownEvents } from '../../query/rights/visibility.ts'
import { Recorder } from '../../write/recorder.ts'
import { newSeed, seededRandom } from '../../write/stored-hooks.ts'
import type { Write } from '../../write/write.ts'
import { answerInSteps, isRead, type ScriptCall, scriptCall } from './call.ts'

/** A write that went well, with what it needs to come out the same again. */
interface Step {
  readonly call: ScriptCall
  readonly seed: Uint8Array
  readonly at: number
}

/** What a dry run begins with, for code that adds to a proposal. */
export type Beginning = (write: Write) => Steps<void>

/** Runs work in a commit of its own, or as a task if it takes longer. */
export type TrialRunner = <T>(work: (write: Write) => Steps<T>, excuse?: (task: Promise<unknown>) => void) => Promise<T>

/**
 * Code that runs without a trace. It runs on another thread and may take seconds, so no transaction can stay open for
 * it: each operation is run in its own, after all writes before it, with the same ids and times, and undone.
 */
export class DryRun {
  readonly #engine: Engine
  readonly #grant: Grant
  readonly #run: TrialRunner
  readonly #begin: Beginning | null
  readonly #steps: Step[] = []
  #events: readonly JsonObject[] = []

  /** With `begin`, what the code writes is to be proposed, and the rights to propose suffice. */
  constructor(engine: Engine, grant: Grant, run: TrialRunner, begin: Beginning | null = null) {
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

  async call(name: string, args: readonly Json[], excuse?: (task: Promise<unknown>) => void): Promise<Json> {
    const { clock, random } = this.#engine.ports
    const step: Step = { call: scriptCall(name, args), seed: newSeed(random), at: clock.now() }
    const { result, events } = await this.#run((write) => this.#tried(write, step), excuse)
    if (!isRead(step.call)) {
      this.#steps.push(step)
      this.#events = shownEvents(this.#engine, this.#grant, events)
    }
    return withoutSecret(result)
  }

  /** Runs the writes so far, inside another write. */
  *replay(write: Write): Steps<void> {
    for (const step of this.#steps) {
      yield* asSteps(this.#take(write, step))
      yield
    }
  }

  #tried(write: Write, step: Step) {
    const { transaction } = write
    const begin = this.#begin
    const replay = (trial: Write) => this.replay(trial)
    const take = (trial: Write) => this.#take(trial, step)
    return transaction.dryRunInSteps(function* () {
      if (begin) yield* begin(write)
      const trial = begin ? write.within({ recorder: new Recorder() }) : write
      yield* replay(trial)
      return yield* asSteps(take(trial))
    })
  }

  #take(write: Write, { call, seed, at }: Step): Stepwise<Json> {
    const random = seededRandom(this.#engine.ports.seal, seed)
    return answerInSteps(write.within({ random, clock: { now: () => at }, isDryRun: true }), call)
  }
}

/** A secret that was never issued is not shown. */
function withoutSecret(value: Json): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { secret: _, ...rest } = value as JsonObject
  return rest
}
