import type { Json, JsonObject } from '@tildebase/nouns'
import type { Engine, Ports } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { eventView } from '../../view/event.ts'
import type { WriteQueue } from '../../write/group-commit.ts'
import { newSeed, seededRandom } from '../../write/seeded.ts'
import { answerCall, isRead, type ScriptCall, scriptCall } from './call.ts'

/** A write that went well, with what it needs to come out the same again. */
interface Step {
  readonly call: ScriptCall
  readonly seed: Uint8Array
  readonly at: number
}

/**
 * Code that runs without a trace. It runs on another thread and may take seconds, so no transaction can stay open for
 * it: each operation is run in one of its own, after all writes before it, with the same ids and times, and rolled back.
 */
export class DryRun {
  readonly #tenant: Engine
  readonly #commits: WriteQueue
  readonly #grant: Grant
  readonly #correlation: string
  readonly #steps: Step[] = []
  #events: readonly JsonObject[] = []

  constructor(tenant: Engine, commits: WriteQueue, grant: Grant, correlation: string) {
    this.#tenant = tenant
    this.#commits = commits
    this.#grant = grant
    this.#correlation = correlation
  }

  /** The events that the writes so far would have written. */
  get events(): readonly JsonObject[] {
    return this.#events
  }

  async call(name: string, args: readonly Json[]): Promise<Json> {
    const tenant = this.#tenant
    const { clock, random } = tenant.ports
    const step: Step = { call: scriptCall(name, args), seed: newSeed(random), at: clock.now() }
    const { result, events } = await this.#commits.run(() =>
      tenant.dryRun(() => {
        for (const earlier of this.#steps) this.#take(earlier)
        return this.#take(step)
      }),
    )
    if (!isRead(step.call)) {
      this.#steps.push(step)
      this.#events = events.map((event) => eventView(event, tenant))
    }
    return withoutSecret(result)
  }

  #take({ call, seed, at }: Step): Json {
    const tenant = this.#tenant
    const ports: Partial<Ports> = {
      random: seededRandom(tenant.ports.seal, seed),
      clock: { now: () => at },
      alarm: { wakeAt: () => {} },
    }
    return tenant.with(ports, () => answerCall(tenant, this.#grant, call, this.#correlation))
  }
}

/** A secret that was never issued is not shown. */
function withoutSecret(value: Json): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { secret: _, ...rest } = value as JsonObject
  return rest
}
