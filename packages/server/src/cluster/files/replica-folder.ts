import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { inflateRawSync } from 'node:zlib'
import { ensureLayout, LAYOUT_VERSION } from '@tildebase/tenant/internal'
import { endUse, pageSumsOf, refuseDamaged, seal, unseal } from '../../node/sqlite/checks/file-damage.ts'
import type { PageSums } from '../../node/sqlite/checks/page-sums.ts'
import { noteCopy, writeSumRecord } from '../../node/sqlite/checks/sum-file.ts'
import { removeMark, SUFFIXES } from '../../node/sqlite/checks/wal-mark.ts'
import { canDefer } from '../../node/sqlite/disk-sync.ts'
import { COMMITS } from '../../node/sqlite/recording.ts'
import { openSql } from '../../node/sqlite/sql.ts'
import type { ReplicaFiles, ReplicaState } from '../protocol/replica.ts'
import type { Change, SnapshotHead } from '../protocol/replicated-log.ts'

/** How many replicas are kept open: opening one takes longer than applying a change. */
const MOST_OPEN = 64
/** The log of a replica is copied into its file when it has so many pages. */
const MOST_PAGES = 1_000

/** A replica in use, and the checksums of its pages. */
interface OpenReplica {
  readonly db: DatabaseSync
  /** Null where SQLite is too old to tell how long a log is. */
  readonly sums: PageSums | null
}

/** The replicas of a node, each a SQLite file like those of the tenants that it owns, in a folder next to them. */
export class ReplicaFolder implements ReplicaFiles {
  readonly #replicas: string
  readonly #tenants: string
  /** In the order of their last use. */
  readonly #open = new Map<string, OpenReplica>()

  constructor(data: string) {
    this.#replicas = join(data, 'replicas')
    this.#tenants = join(data, 'tenants')
  }

  state(slug: string): ReplicaState | null {
    if (!existsSync(this.#path(slug))) return null
    try {
      return stateOf(this.#opened(slug).db)
    } catch {
      this.discard(slug)
      return null
    }
  }

  apply(slug: string, changes: readonly Change[]): void {
    const { db, sums } = this.#opened(slug)
    db.exec('BEGIN IMMEDIATE')
    try {
      for (const { bytes, n } of changes)
        if (!db.applyChangeset(bytes)) throw new Error(`Change ${n} of ${slug} does not fit the replica.`)
      const { n, epoch } = changes.at(-1)!
      // Not by run(): it would read the id of the last row, which may be one of the text index and past 2^53.
      db.exec(`UPDATE commits SET n = ${n}, epoch = ${epoch}`)
      db.exec('COMMIT')
    } catch (reason) {
      this.discard(slug)
      throw reason
    }
    if (sums && pagesOfLog(db) >= MOST_PAGES) this.#copyLog(slug)
  }

  async restore(slug: string, head: SnapshotHead, parts: AsyncIterable<Uint8Array>): Promise<void> {
    this.discard(slug)
    const path = this.#path(slug)
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const fresh = `${path}.new`
    const file = openSync(fresh, 'w', 0o600)
    try {
      for await (const part of parts) writeSync(file, inflateRawSync(part))
    } finally {
      closeSync(file)
    }
    renameSync(fresh, path)
    const { n, epoch, layout } = stateOf(this.#opened(slug).db)
    if (n === head.n && epoch === head.epoch && layout === head.layout) return
    throw new Error(`The snapshot of ${slug} is at ${n} of epoch ${epoch}, not at ${head.n} of ${head.epoch}.`)
  }

  discard(slug: string): void {
    this.#open.get(slug)?.db.close()
    this.#open.delete(slug)
    for (const suffix of [...SUFFIXES, '.new']) rmSync(`${this.#path(slug)}${suffix}`, { force: true })
  }

  /** Brings the tables to the layout of this program. Returns whether they had another. */
  migrate(slug: string): boolean {
    if (this.state(slug)?.layout === LAYOUT_VERSION) return false
    const path = this.closedPath(slug)
    unseal(path)
    const sql = openSql(path)
    try {
      ensureLayout(sql)
    } finally {
      sql.close()
    }
    seal(path)
    return true
  }

  /** Makes a replica the file of a tenant, which commits in this epoch from now on. */
  publish(slug: string, epoch: number): void {
    this.#opened(slug).db.exec(`UPDATE commits SET next = ${epoch}`)
    this.#close(slug)
    this.#move(this.#path(slug), this.#tenantPath(slug))
  }

  /** Makes the closed file of a tenant a replica again. One that a crash has left gets the rest of its writes first. */
  withdraw(slug: string): void {
    const path = this.#tenantPath(slug)
    this.discard(slug)
    try {
      closeReplica(path, openWhole(path))
      this.#move(path, this.#path(slug))
    } catch {
      // It is not needed; the log has everything.
      for (const suffix of SUFFIXES) rmSync(`${path}${suffix}`, { force: true })
    }
  }

  /** Leaves nothing in the file of what was overwritten. */
  scrub(slug: string): void {
    this.#opened(slug)
    this.#copyLog(slug)
  }

  /** The file of a replica, closed. */
  closedPath(slug: string): string {
    this.#close(slug)
    return this.#path(slug)
  }

  close(): void {
    for (const slug of [...this.#open.keys()]) this.#close(slug)
  }

  #move(from: string, to: string): void {
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
    for (const suffix of SUFFIXES) rmSync(`${to}${suffix}`, { force: true })
    if (existsSync(`${from}-wal`)) throw new Error(`Some writes of ${from} are still beside it.`)
    renameSync(from, to)
    removeMark(from)
  }

  #opened(slug: string): OpenReplica {
    const known = this.#open.get(slug)
    this.#open.delete(slug)
    const replica = known ?? openWhole(this.#path(slug))
    this.#open.set(slug, replica)
    if (this.#open.size > MOST_OPEN) this.#close(this.#open.keys().next().value!)
    return replica
  }

  #copyLog(slug: string): void {
    const replica = this.#open.get(slug)!
    copying(this.#path(slug), replica, () => replica.db.exec('PRAGMA wal_checkpoint(TRUNCATE)'))
  }

  #close(slug: string): void {
    const replica = this.#open.get(slug)
    if (!replica) return
    this.#open.delete(slug)
    closeReplica(this.#path(slug), replica)
  }

  #path(slug: string): string {
    return join(this.#replicas, slug.slice(0, 2), `${slug}.db`)
  }

  #tenantPath(slug: string): string {
    return join(this.#tenants, slug.slice(0, 2), `${slug}.db`)
  }
}

/** Makes the file of a tenant the first state of its log. */
export function beginLog(path: string): { readonly layout: number } {
  const db = openReplica(path)
  try {
    db.exec(COMMITS)
    db.exec('DELETE FROM commits')
    db.exec('INSERT INTO commits VALUES (0, 0, 0)')
    return stateOf(db)
  } finally {
    db.close()
  }
}

/** Where a closed file is. */
export function stateOfFile(path: string): ReplicaState {
  const db = openReplica(path)
  try {
    return stateOf(db)
  } finally {
    db.close()
  }
}

/** Opens a replica, if it is as it was written. While it is open its checksum is next to it. */
function openWhole(path: string): OpenReplica {
  refuseDamaged(path)
  const sums = canDefer() ? pageSumsOf(path) : null
  unseal(path)
  if (sums) writeSumRecord(path, sums)
  const db = openReplica(path)
  if (sums) db.exec('PRAGMA wal_autocheckpoint = 0')
  return { db, sums }
}

function closeReplica(path: string, replica: OpenReplica): void {
  copying(path, replica, () => replica.db.close())
  endUse(path, replica.sums)
}

/** Lets SQLite copy the log of a replica into its file. A kill in the middle leaves a checksum of either. */
function copying(path: string, { db, sums }: OpenReplica, work: () => void): void {
  const copied = sums && noteCopy(path, sums, pagesOfLog(db))
  work()
  copied?.()
}

function pagesOfLog(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA wal_checkpoint(NOOP)').get()!.log)
}

/** Changes reach the tables behind the text index, too: SQLite protects those from all that is not defenseless. */
function openReplica(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { defensive: false })
  try {
    for (const pragma of [
      'locking_mode = EXCLUSIVE',
      'journal_mode = WAL',
      'synchronous = NORMAL',
      'secure_delete = ON',
    ])
      db.exec(`PRAGMA ${pragma}`)
    return db
  } catch (reason) {
    db.close()
    throw reason
  }
}

function stateOf(db: DatabaseSync): ReplicaState {
  const row = db
    .prepare(`SELECT n, epoch, (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'layout') AS layout FROM commits`)
    .get()
  return row as unknown as ReplicaState
}
