/** One step of a transaction on lists of numbers. Every number is appended once in a history. */
export type Step =
  | { readonly kind: 'append'; readonly key: string; readonly value: number }
  /** The list is null when no answer came. */
  | { readonly kind: 'read'; readonly key: string; readonly list: readonly number[] | null }

/**
 * ok: the service answered that it was done. fail: it did not happen, for certain. unknown: no answer, or an error of the
 * service, so it may have happened, may happen later, or never.
 */
export type Outcome = 'ok' | 'fail' | 'unknown'

/** Steps that must take effect together, with times of one clock that never jumps. */
export interface Transaction {
  readonly name: string
  readonly steps: readonly Step[]
  readonly outcome: Outcome
  readonly began: number
  /** Infinity for unknown: it may take effect at any later time. */
  readonly ended: number
}

/** Something that a strictly serializable service never shows, in the words of Adya and of Elle. */
export interface Anomaly {
  readonly kind: string
  readonly message: string
}
