/** What became of a request to a witness. */
export interface WitnessReport {
  readonly name: string
  /** The size that it cosigned last; 0 before the first time. */
  readonly size: number
  readonly cosignedAt: string | null
  /** Why it did not cosign, or null. */
  readonly error: string | null
}

/** A signed checkpoint with what is known about it. Hashes are base64. */
export interface SignedCheckpoint {
  readonly origin: string
  readonly size: number
  readonly root: string
  /** The checkpoint as a signed note. */
  readonly note: string
  /** The key of the service that signed it, as C2SP signed-note writes it. */
  readonly key: string
  readonly witnesses: readonly WitnessReport[]
  /** The names that this log was signed under before it was forked, moved or restored, oldest first. */
  readonly lineage: readonly { readonly origin: string; readonly size: number; readonly root: string }[]
}

/** What shows that an earlier tree is the beginning of a later one. */
export interface ConsistencyProof {
  readonly from: number
  readonly to: number
  readonly proof: readonly string[]
}

/** What an event was sealed with: what its hash in the chain is computed from. All hashes are base64. */
export interface SealedEntry {
  /** The hash of the event before it. */
  readonly before: string
  /** What is known of the event in addition to its values, as JSON text. */
  readonly header: string
  /** The digest of salt, data, previous and, if there are any, arguments, with line breaks between them. */
  readonly digest: string
  /** Null once the values were erased, or where the key does not see all of them; then there are no values either. */
  readonly salt: string | null
  readonly data: string | null
  readonly previous: string | null
  /** The arguments of a verb that keeps them in its event. */
  readonly args: string | null
}

/** What shows that an event is in the log at its place. */
export interface EventProof {
  readonly event: string
  readonly seq: number
  /** The number of events that the proof is about. */
  readonly size: number
  /** The event's hash in the chain: the leaf of the tree. */
  readonly leaf: string
  readonly proof: readonly string[]
  /** The signed checkpoint of that size; null for an earlier size, whose checkpoint the caller has. */
  readonly checkpoint: string | null
  /** The key of the service that signed it, and those of its witnesses, as C2SP signed-note writes them. */
  readonly key: string | null
  readonly witnesses: readonly string[]
  readonly entry: SealedEntry
}
