import type { JsonObject, Verb } from '@tildebase/nouns'
import type { Stored } from '../store/entities.ts'
import type { LogRow } from '../store/log/log.ts'

/** One verb to run. */
export interface VerbRequest {
  readonly type: string
  readonly verb: string
  readonly id?: string | undefined
  /** The draft, the patch or the verb's arguments. */
  readonly data?: unknown
  /** The versions that the sender would change; any other is a mismatch. */
  readonly ifVersions?: readonly number[] | undefined
  /** Ids that count as existing: they come in the same transaction. */
  readonly pendingIds?: ReadonlySet<string> | undefined
  /** The only hashes of contents that a proposed verb may name: its author was allowed to. */
  readonly knownContents?: ReadonlySet<string> | undefined
  /** For `ApiKey.revoke`: ends what the key made, too. */
  readonly cascade?: boolean
  /** Keeps a well-formed `$id` of the draft, as imports and syncs do. */
  readonly keepId?: boolean
  /** Keeps the `$source` of the draft, as imports do: an export shows it. */
  readonly keepSource?: boolean
  /** Leaves out values of computed fields, as imports and syncs do: an export shows them. */
  readonly dropsComputed?: boolean
  /** For `Funnel.analyze`: what was counted before the commit. */
  readonly counted?: CountedFunnel | undefined
  /** A verb of the service's own, which no client can name. */
  readonly internalVerb?: Verb
  /** Values of service-set fields, from the service itself. */
  readonly serviceFields?: JsonObject
}

/** A step of a funnel: what it is called, and the event that it is reached by. */
export interface FunnelStep {
  readonly name: string
  readonly event: string
}

/** A funnel that was counted before the commit which keeps the result. */
export interface CountedFunnel {
  /** The steps, the window and the filter that were counted, as JSON text. */
  readonly question: string
  readonly steps: readonly FunnelStep[]
  readonly counts: readonly number[]
}

/** What a verb did. `event` is null when nothing changed. */
export interface VerbResult {
  readonly entity: Stored
  readonly event: LogRow | null
}

/** What a verb that a client asked for did. */
export interface RunResult extends VerbResult {
  /** Present once, when a key or a webhook was created. */
  readonly secret?: string
  /** What the sender should know although the verb has happened. */
  readonly warnings?: readonly JsonObject[]
}
