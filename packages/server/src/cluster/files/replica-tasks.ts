import { randomUUID } from 'node:crypto'
import { closeSync, copyFileSync, fstatSync, openSync, readSync, rmSync } from 'node:fs'
import { promisify } from 'node:util'
import { deflateRaw } from 'node:zlib'
import { LAYOUT_VERSION } from '@tildebase/tenant/internal'
import { OneAtATime } from '../protocol/one-at-a-time.ts'
import { Replica, type ReplicaState } from '../protocol/replica.ts'
import type { Position, ReplicatedLog, SnapshotHead, TenantRow } from '../protocol/replicated-log.ts'
import { beginLog, type ReplicaFolder, stateOfFile } from './replica-folder.ts'

/** The bytes of a part before it is compressed. */
const PART = 4_194_304
const compress = promisify(deflateRaw)

/** What is done to replicas and snapshots. Work on one tenant is done one after the other. */
export class ReplicaTasks {
  readonly #log: ReplicatedLog
  readonly #folder: ReplicaFolder
  readonly #replica: Replica
  readonly #turns = new OneAtATime()

  constructor(log: ReplicatedLog, folder: ReplicaFolder) {
    this.#log = log
    this.#folder = folder
    this.#replica = new Replica(log, folder)
  }

  /** Brings a replica to the end of the log, for a node that owns the tenant or that follows it. */
  bring(row: TenantRow): Promise<ReplicaState | null> {
    return this.#turns.run(row.slug, async () => {
      const before = this.#folder.state(row.slug)
      const after = await this.#replica.bring(row)
      if (after && before && before.n < row.erased) this.#folder.scrub(row.slug)
      return after
    })
  }

  /** Makes a replica the tenant's file. Tables of an older layout are brought forward, and then a snapshot is made. */
  publish(row: TenantRow, at: Position): Promise<void> {
    const { slug, epoch } = row
    return this.#turns.run(slug, async () => {
      // The follower may have discarded it since it was brought.
      const state = this.#folder.state(slug) ?? (await this.#replica.bring(row))
      if (state?.n !== at.n || state.epoch !== at.epoch) throw new Error(`The replica of ${slug} has moved since.`)
      if (this.#folder.migrate(slug)) await this.#saveSnapshot(slug, this.#folder.closedPath(slug))
      this.#folder.publish(slug, epoch)
    })
  }

  withdraw(slug: string): Promise<void> {
    return this.#turns.run(slug, () => this.#folder.withdraw(slug))
  }

  discard(slug: string): Promise<void> {
    return this.#turns.run(slug, () => this.#folder.discard(slug))
  }

  /** Where a copy of a tenant's file is. */
  async stateOfFile(path: string): Promise<ReplicaState> {
    return stateOfFile(path)
  }

  /** Saves a copy of a tenant's file as its newest snapshot. */
  async saveSnapshot(slug: string, path: string): Promise<boolean> {
    return this.#saveSnapshot(slug, path)
  }

  /** Adds a tenant that begins with the content of a file. Null when there is one of this name. */
  async create(slug: string, session: string, from: string, scratch: string): Promise<TenantRow | null> {
    try {
      copyFileSync(from, scratch)
      const { layout } = beginLog(scratch)
      const id = randomUUID()
      const parts = await this.#saveParts(slug, id, scratch)
      return await this.#log.create(slug, session, { id, layout, parts })
    } finally {
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${scratch}${suffix}`, { force: true })
    }
  }

  /** The layout of the tables that this program knows. */
  get layout(): number {
    return LAYOUT_VERSION
  }

  async #saveSnapshot(slug: string, path: string): Promise<boolean> {
    const state = stateOfFile(path)
    const id = randomUUID()
    const parts = await this.#saveParts(slug, id, path)
    const head: SnapshotHead = { id, n: state.n, epoch: state.epoch, layout: state.layout, parts }
    return this.#log.publishSnapshot(slug, head)
  }

  async #saveParts(slug: string, id: string, path: string): Promise<number> {
    const file = openSync(path, 'r')
    try {
      const { size } = fstatSync(file)
      let part = 0
      for (let at = 0; at < size; at += PART, part++) {
        const bytes = Buffer.alloc(Math.min(PART, size - at))
        readSync(file, bytes, 0, bytes.length, at)
        await this.#log.saveSnapshotPart(slug, id, part, await compress(bytes, { level: 1 }))
      }
      return part
    } finally {
      closeSync(file)
    }
  }
}
