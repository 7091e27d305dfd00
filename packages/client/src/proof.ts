import type { Wire } from './transport/wire.ts'

/** A signed checkpoint with what is known about it. Hashes are base64. */
export interface SignedCheckpoint {
  readonly origin: string
  readonly size: number
  readonly root: string
  /** The checkpoint as a signed note: keep this. */
  readonly note: string
  /** The key of the service that signed it. */
  readonly key: string
  readonly witnesses: readonly WitnessReport[]
  /** The logs that this one comes from: it was forked, moved or restored since. */
  readonly lineage: readonly { readonly origin: string; readonly size: number; readonly root: string }[]
}

/** What became of the last request to a witness. */
export interface WitnessReport {
  readonly name: string
  readonly size: number
  readonly cosignedAt: string | null
  readonly error: string | null
}

/** What shows that an event is in the log. Hashes are base64. */
export interface EventProof {
  readonly event: string
  readonly seq: number
  readonly size: number
  readonly leaf: string
  readonly proof: readonly string[]
  readonly checkpoint: string | null
  readonly key: string | null
  readonly witnesses: readonly string[]
  readonly entry: {
    readonly before: string
    readonly header: string
    readonly digest: string
    readonly salt: string | null
    readonly data: string | null
    readonly previous: string | null
    readonly args: string | null
  }
}

export interface ConsistencyProof {
  readonly from: number
  readonly to: number
  readonly proof: readonly string[]
}

/** What the tenant proves about its log. */
export interface Proofs {
  checkpoint(): Promise<SignedCheckpoint>
  /** The proof of an event, by its id or its seq; in the log of an earlier size when one is given. */
  event(id: string | number, options?: { readonly size?: number }): Promise<EventProof>
  /** The same as a page that checks itself without a network. */
  page(id: string | number): Promise<string>
  /** What shows that the log of one size is the beginning of a later one; that of now unless given. */
  consistency(from: number, to?: number): Promise<ConsistencyProof>
}

export function proofsOf(wire: Wire, root: string): Proofs {
  const path = (id: string | number) => `${root}/proof/${encodeURIComponent(String(id))}`
  return {
    checkpoint: () => wire.json(`${root}/checkpoint`),
    event: (id, { size } = {}) => wire.json(path(id), { query: { size } }),
    page: async (id) => (await wire.send(path(id), { query: { format: 'html' } })).text(),
    consistency: (from, to) => wire.json(`${root}/consistency`, { query: { from, to } }),
  }
}
