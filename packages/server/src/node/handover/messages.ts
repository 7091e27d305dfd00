/** From the service that takes over. */
export type FromSuccessor = {
  /** Asks for a tenant: close it, so that it can be opened elsewhere. */
  readonly do: 'release'
  readonly slug: string
}

/** From the service that leaves. */
export type FromPredecessor =
  /** What the host keeps in addition to the tenants is closed: open it, and listen. */
  | { readonly do: 'yours' }
  /** The tenant is closed. */
  | { readonly do: 'released'; readonly slug: string }
  /** A tenant is to be woken at a time. */
  | { readonly do: 'book'; readonly slug: string; readonly at: number | null }
  /** The operator did something that was begun before. */
  | { readonly do: 'record'; readonly action: string; readonly slug: string; readonly facts: object }
  /** All tenants are closed. */
  | { readonly do: 'ended' }
