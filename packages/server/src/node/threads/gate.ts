/** Holds what threads send back for a tenant until the commits behind it are kept elsewhere. */
export interface Gate {
  /** A tenant's file has one commit more. */
  committed(slug: string, n: number, changes: Uint8Array, erases: boolean): void
  /** Calls `release` when what the tenant sends may leave, or `refuse` when it may not. In the order of the calls. */
  pass(slug: string, release: () => void, refuse: () => void): void
  /** A tenant was opened: it may have something due. */
  opened(slug: string): void
  /** The thread of these tenants has ended: their files may have commits that were not reported. */
  died(slugs: readonly string[]): void
}
