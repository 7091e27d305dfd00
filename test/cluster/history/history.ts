/** What a client asks of one entity. */
export type Action =
  | { readonly kind: 'create'; readonly value: string }
  | { readonly kind: 'write'; readonly value: string }
  | { readonly kind: 'swap'; readonly value: string; readonly expected: number }
  | { readonly kind: 'read' }

/**
 * ok: the service answered that it was done. fail: it did not happen, for certain. unknown: the answer did not come,
 * or was an error of the service, so it may have happened, may happen later, or never.
 */
export type Outcome = 'ok' | 'fail' | 'unknown'

/** One operation of one client, with times of one clock that never jumps. */
export interface Operation {
  readonly client: string
  /** The `$id`, or '' while it is not known. */
  readonly entity: string
  readonly action: Action
  readonly outcome: Outcome
  readonly began: number
  /** Infinity for unknown: it may take effect at any later time. */
  readonly ended: number
  /** What the answer showed. Version 0 means that the entity was not found. */
  readonly version: number | null
  readonly value: string | null
}

/** One event of the log of a tenant, in the words of the history. */
export interface LoggedEvent {
  readonly seq: number
  readonly id: string
  readonly entity: string
  readonly version: number
  readonly verb: string
  /** What was written; null for events that are not of the workload. */
  readonly value: string | null
}

/** What a follower of the change stream saw while faults happened. */
export interface Observation {
  readonly follower: string
  readonly seq: number
  readonly id: string
}

/**
 * Something that the service must never do. `stopped`: it does not answer again after everything was mended. `kept`:
 * erased values are still there.
 */
export interface Violation {
  readonly kind: 'lost' | 'duplicated' | 'reordered' | 'stale' | 'phantom' | 'verify' | 'stopped' | 'kept'
  readonly message: string
}
