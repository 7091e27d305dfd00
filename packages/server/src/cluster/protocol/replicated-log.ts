/** A point of a tenant's log: how many changes there are, and the epoch in which the last one was made. */
export interface Position {
  readonly n: number
  readonly epoch: number
}

/**
 * A point of the write-ahead log of the database: how often another machine has become the primary, and how many
 * bytes there were.
 */
export interface Mark {
  readonly timeline: number
  readonly position: number
}

/** One group commit of a tenant, as the log keeps it. */
export interface Change {
  readonly n: number
  readonly epoch: number
  /** The epoch of the change before it. A replica that has another one there has left the log. */
  readonly before: number
  readonly bytes: Uint8Array
  /** True when it erased something: earlier changes and snapshots still hold that. */
  readonly erases?: boolean
}

/** What the log says of a tenant. */
export interface TenantRow {
  readonly slug: string
  /** The session that owns the tenant, or null. */
  readonly owner: string | null
  readonly epoch: number
  readonly head: number
  /** The node that the operator has chosen for it, or null. */
  readonly pin: string | null
  /** When it is to be woken; null is never. 0 while it is open: it may have work. */
  readonly due: number | null
  /** The layout of its tables. */
  readonly layout: number
  /** The position of the newest snapshot. */
  readonly snapshot: number
  /** The last change that erased something: snapshots and changes before it must go. */
  readonly erased: number
  /** No earlier owner has written an event after this time. */
  readonly clock: number
}

/** A node as the log knows it. A process that starts again is another session. */
export interface NodeRow {
  readonly session: string
  readonly name: string
  readonly url: string
  /** Counts up with each sign of life. */
  readonly beat: number
  readonly draining: boolean
  readonly layout: number
  readonly version: string
}

/** Changes of one tenant that are to be added after its head. */
export interface Append {
  readonly slug: string
  readonly epoch: number
  readonly head: number
  readonly changes: readonly Change[]
}

/** A tenant's database at a position. Its parts are compressed. */
export interface SnapshotHead extends Position {
  readonly id: string
  readonly layout: number
  readonly parts: number
}

/**
 * The log that all nodes share. A call that fails may have had its effect, or may have it later; the caller must
 * find out. A write that returns survives the loss of any one machine of the log.
 */
export interface ReplicatedLog {
  /** Adds a session. */
  join(node: Omit<NodeRow, 'beat' | 'draining'>, clock: number): Promise<void>
  /** A sign of life, and the nodes that are alive; null when this session was declared dead. */
  beat(session: string, clock: number): Promise<readonly NodeRow[] | null>
  /** Declares a session dead, unless it has given a sign of life since. */
  expire(session: string, beat: number): Promise<boolean>
  /** Ends a session of one's own, so that others take over at once. */
  leave(session: string): Promise<void>
  /** Says that a node takes no more tenants, or does again; false when there is no such node. */
  setDraining(name: string, draining: boolean): Promise<boolean>

  find(slugs: readonly string[]): Promise<readonly TenantRow[]>
  /** Tenants after a slug, in their order. */
  list(after: string, most: number): Promise<readonly TenantRow[]>
  /** Tenants after a slug, without the first ones, and how many there are in all. */
  page(
    after: string,
    offset: number,
    most: number,
  ): Promise<{ readonly rows: readonly TenantRow[]; readonly total: number }>
  /** The number of tenants of each session; tenants without an owner under an empty name. */
  counts(): Promise<ReadonlyMap<string, number>>
  /** Tenants with something due that no session runs: their owner is dead, or they were given to this one. */
  orphans(session: string, most: number): Promise<readonly TenantRow[]>
  /** Adds a tenant whose first snapshot was saved; null when there is one of this name. Its log begins after 0. */
  create(slug: string, session: string, first: Omit<SnapshotHead, 'n' | 'epoch'>): Promise<TenantRow | null>
  /** Removes a tenant; with `onlyEmpty` not if its log has a change. False if it was not ours, or is not empty. */
  remove(slug: string, epoch: number, onlyEmpty?: boolean): Promise<boolean>
  /** Makes a session the owner, with a new epoch, of tenants without a live owner, or that it already owns. */
  claim(slugs: readonly string[], session: string, layout: number): Promise<readonly TenantRow[]>
  /** Gives a tenant to another session, or releases it, with a new epoch; false if it was not ours. */
  release(slug: string, epoch: number, to: string | null): Promise<boolean>
  setDue(slug: string, epoch: number, due: number | null): Promise<void>
  setPin(slug: string, node: string | null): Promise<boolean>

  /** Adds changes where epoch and head are as expected. Returns the slugs of which that was true. */
  append(appends: readonly Append[]): Promise<ReadonlySet<string>>
  /** The heads of tenants that are still owned in this epoch. It writes: what it returns can not be lost any more. */
  settle(owned: readonly { readonly slug: string; readonly epoch: number }[]): Promise<ReadonlyMap<string, number>>
  /** Changes after a number, in their order; at least one if there is any, and not many bytes. */
  read(slug: string, after: number): Promise<readonly Change[]>
  /** The epoch of the change, or of the snapshot, of that number; null when it is not there. */
  epochAt(slug: string, n: number): Promise<number | null>
  heads(slugs: readonly string[]): Promise<readonly TenantRow[]>

  snapshot(slug: string): Promise<SnapshotHead | null>
  snapshotPart(slug: string, id: string, part: number): Promise<Uint8Array | null>
  saveSnapshotPart(slug: string, id: string, part: number, bytes: Uint8Array): Promise<void>
  /** Makes a saved snapshot the newest one if its position is in the log, and removes what it replaces. */
  publishSnapshot(slug: string, head: SnapshotHead): Promise<boolean>
  /** Writes down settings that all nodes must share, once. Returns the names of those that differ. */
  agree(settings: { readonly [name: string]: string }): Promise<readonly string[]>
  close(): Promise<void>
}
