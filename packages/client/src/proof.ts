import type { ConsistencyProof, EventProof, SignedCheckpoint } from '@tildebase/nouns'
import type { Wire } from './transport/wire.ts'

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
