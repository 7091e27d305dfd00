import type { Change, Position, ReplicatedLog, SnapshotHead, TenantRow } from './replicated-log.ts'

/** Where a replica is, and the layout of its tables. */
export interface ReplicaState extends Position {
  readonly layout: number
}

/** The replicas on this node's disk. */
export interface ReplicaFiles {
  /** Where a replica is; null when there is none, or none that can be used. */
  state(slug: string): ReplicaState | null
  /** Applies changes in one transaction, and moves to the position of the last. */
  apply(slug: string, changes: readonly Change[]): void
  /** Takes the parts of a snapshot in place of what is there. */
  restore(slug: string, head: SnapshotHead, parts: AsyncIterable<Uint8Array>): Promise<void>
  discard(slug: string): void
}

type ReadableLog = Pick<ReplicatedLog, 'read' | 'epochAt' | 'snapshot' | 'snapshotPart'>

const MOST_TRIES = 5

/** Brings replicas to the state of the log: for a node that follows a tenant, and for one that is about to own it. */
export class Replica {
  readonly #log: ReadableLog
  readonly #files: ReplicaFiles

  constructor(log: ReadableLog, files: ReplicaFiles) {
    this.#log = log
    this.#files = files
  }

  /**
   * Brings a replica to the end of the log, from where it is or from the newest snapshot. Returns where it is then, or
   * null when the log does not have the tenant. No other node appends while an owner does this, because its epoch is
   * new.
   */
  async bring({ slug, layout }: Pick<TenantRow, 'slug' | 'layout'>): Promise<ReplicaState | null> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const known = this.#files.state(slug)
      if (known !== null && known.layout !== layout) this.#files.discard(slug)
      const start = this.#files.state(slug) ?? (await this.#restore(slug))
      if (start === null) return null
      const end = await this.#follow(slug, start)
      // The last change of the replica must be the one that the log has there: a crash may have left one that was not appended.
      if (end !== null && (await this.#log.epochAt(slug, end.n)) === end.epoch) return end
      this.#files.discard(slug)
    }
    throw new Error(`The replica of ${slug} could not be brought to the end of the log.`)
  }

  /** Applies what the log has after a position. Null when the replica is not on the way of the log. */
  async #follow(slug: string, start: ReplicaState): Promise<ReplicaState | null> {
    let at = start
    for (;;) {
      const changes = await this.#log.read(slug, at.n)
      if (changes.length === 0) return at
      let last: Position = at
      for (const change of changes) {
        if (change.n !== last.n + 1 || change.before !== last.epoch) return null
        last = change
      }
      this.#files.apply(slug, changes)
      at = { n: last.n, epoch: last.epoch, layout: at.layout }
    }
  }

  async #restore(slug: string): Promise<ReplicaState | null> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const head = await this.#log.snapshot(slug)
      if (head === null) return null
      try {
        await this.#files.restore(slug, head, this.#parts(slug, head))
        return head
      } catch (reason) {
        this.#files.discard(slug)
        if (reason !== REPLACED) throw reason
      }
    }
    throw new Error(`The snapshot of ${slug} was replaced each time that it was read.`)
  }

  async *#parts(slug: string, { id, parts }: SnapshotHead): AsyncGenerator<Uint8Array> {
    for (let part = 0; part < parts; part++) {
      const bytes = await this.#log.snapshotPart(slug, id, part)
      if (bytes === null) throw REPLACED
      yield bytes
    }
  }
}

const REPLACED = new Error('A newer snapshot has taken the place of this one.')
