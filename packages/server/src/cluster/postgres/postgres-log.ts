import { LogGuard } from '../protocol/log-guard.ts'
import type { Append, Change, NodeRow, ReplicatedLog, SnapshotHead, TenantRow } from '../protocol/replicated-log.ts'
import { type Admit, Database, type Row } from './database.ts'
import type { Address } from './hosts.ts'
import { prepareTables } from './prepare.ts'
import * as statements from './statements.ts'

export interface PostgresLogOptions {
  readonly address: Address
  /** How the connections are named in `pg_stat_activity`. */
  readonly name: string
  /** After how many milliseconds a statement counts as failed. */
  readonly timeout: number
  /** Decides whether a database may be used. Without it, one that goes back while it is used is refused. */
  readonly guard?: LogGuard
}

/** The log in PostgreSQL. */
export class PostgresLog implements ReplicatedLog {
  /** Appends have their own connection: a lease is not renewed late because a change is large. */
  readonly #appends: Database
  readonly #control: Database
  readonly #guard: LogGuard
  /** The timeline of the connection for appends. It cannot change while the connection lasts. */
  #timeline = 0

  constructor({ address, name, timeout, guard }: PostgresLogOptions) {
    this.#guard = guard ?? new LogGuard({ newest: null, keep: () => {}, report: () => {} })
    this.#appends = new Database(address, name, timeout, async (run) => {
      this.#timeline = await this.#admit(run)
    })
    this.#control = new Database(address, name, timeout, async (run) => void (await this.#admit(run)))
  }

  /** Makes the tables where they are not there, and brings older ones forward. */
  prepare(): Promise<void> {
    return prepareTables(this.#control)
  }

  async join(node: Omit<NodeRow, 'beat' | 'draining'>, clock: number): Promise<void> {
    await this.#control.query(statements.FORGET_NODES)
    const { session, name, url, layout, version } = node
    await this.#control.query(statements.JOIN, [session, name, url, clock, layout, version])
  }

  async beat(session: string, clock: number): Promise<readonly NodeRow[] | null> {
    const rows = await this.#control.query(statements.BEAT, [session, clock])
    return rows[0] && Number(rows[0].renewed) === 1 ? rows.map(toNode) : null
  }

  async expire(session: string, beat: number): Promise<boolean> {
    return (await this.#control.query(statements.EXPIRE, [session, beat])).length > 0
  }

  async leave(session: string): Promise<void> {
    await this.#control.query(statements.LEAVE, [session])
  }

  async setDraining(name: string, draining: boolean): Promise<boolean> {
    return (await this.#control.query(statements.SET_DRAINING, [name, draining])).length > 0
  }

  async find(slugs: readonly string[]): Promise<readonly TenantRow[]> {
    return (await this.#control.query(statements.FIND, [listOf(slugs)])).map(toTenant)
  }

  heads(slugs: readonly string[]): Promise<readonly TenantRow[]> {
    return this.find(slugs)
  }

  async list(after: string, most: number): Promise<readonly TenantRow[]> {
    return (await this.#control.query(statements.LIST, [after, most])).map(toTenant)
  }

  async page(
    after: string,
    offset: number,
    most: number,
  ): Promise<{ readonly rows: readonly TenantRow[]; readonly total: number }> {
    const rows = await this.#control.query(statements.PAGE, [after, offset, most])
    const [count] = await this.#control.query(statements.TOTAL)
    return { rows: rows.map(toTenant), total: Number(count?.total) }
  }

  async counts(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#control.query(statements.COUNTS)
    return new Map(rows.map(({ owner, count }) => [owner, Number(count)]))
  }

  async orphans(session: string, most: number): Promise<readonly TenantRow[]> {
    return (await this.#control.query(statements.ORPHANS, [session, most])).map(toTenant)
  }

  async create(
    slug: string,
    session: string,
    { id, layout, parts }: Omit<SnapshotHead, 'n' | 'epoch'>,
  ): Promise<TenantRow | null> {
    const rows = await this.#control.query(statements.CREATE, [slug, session, layout, id, parts])
    return rows[0] ? toTenant(rows[0]) : null
  }

  async remove(slug: string, epoch: number, onlyEmpty = false): Promise<boolean> {
    return Number((await this.#control.query(statements.REMOVE, [slug, epoch, onlyEmpty]))[0]?.count) > 0
  }

  async claim(slugs: readonly string[], session: string, layout: number): Promise<readonly TenantRow[]> {
    return (await this.#control.query(statements.CLAIM, [listOf(slugs), session, layout])).map(toTenant)
  }

  async release(slug: string, epoch: number, to: string | null): Promise<boolean> {
    return (await this.#control.query(statements.RELEASE, [slug, epoch, to])).length > 0
  }

  async setDue(slug: string, epoch: number, due: number | null): Promise<void> {
    await this.#control.query(statements.SET_DUE, [slug, epoch, due])
  }

  async setPin(slug: string, node: string | null): Promise<boolean> {
    return (await this.#control.query(statements.SET_PIN, [slug, node])).length > 0
  }

  async append(appends: readonly Append[]): Promise<ReadonlySet<string>> {
    const sorted = appends.toSorted((a, b) => (a.slug < b.slug ? -1 : 1))
    const changes = sorted.flatMap(({ slug, changes }) => changes.map((change) => ({ slug, ...change })))
    const starts: number[] = []
    let length = 0
    for (const { bytes } of changes) {
      starts.push(length + 1)
      length += bytes.length
    }
    const rows = await this.#appends.query(statements.APPEND, [
      listOf(sorted.map(({ slug }) => slug)),
      listOf(sorted.map(({ epoch }) => epoch)),
      listOf(sorted.map(({ head }) => head)),
      listOf(sorted.map(({ changes }) => changes.at(-1)!.n)),
      listOf(sorted.map(({ changes }) => changes.findLast(({ erases }) => erases)?.n ?? 0)),
      listOf(changes.map(({ slug }) => slug)),
      listOf(changes.map(({ n }) => n)),
      listOf(changes.map(({ epoch }) => epoch)),
      listOf(changes.map(({ before }) => before)),
      listOf(starts),
      listOf(changes.map(({ bytes }) => bytes.length)),
      changes.length === 1 ? changes[0]!.bytes : Buffer.concat(changes.map(({ bytes }) => bytes)),
    ])
    if (rows[0]) this.#guard.acknowledged({ timeline: this.#timeline, position: Number(rows[0].position) })
    return new Set(rows.map(({ slug }) => slug))
  }

  async settle(
    owned: readonly { readonly slug: string; readonly epoch: number }[],
  ): Promise<ReadonlyMap<string, number>> {
    const sorted = owned.toSorted((a, b) => (a.slug < b.slug ? -1 : 1))
    const slugs = listOf(sorted.map(({ slug }) => slug))
    const rows = await this.#appends.query(statements.SETTLE, [slugs, listOf(sorted.map(({ epoch }) => epoch))])
    return new Map(rows.map(({ slug, head }) => [slug, Number(head)]))
  }

  async read(slug: string, after: number): Promise<readonly Change[]> {
    return (await this.#control.query(statements.READ, [slug, after])).map(toChange)
  }

  async epochAt(slug: string, n: number): Promise<number | null> {
    const [row] = await this.#control.query(statements.EPOCH_AT, [slug, n])
    return row ? Number(row.epoch) : null
  }

  async snapshot(slug: string): Promise<SnapshotHead | null> {
    const [row] = await this.#control.query(statements.SNAPSHOT, [slug])
    if (!row) return null
    return {
      id: row.snapshot_id,
      n: Number(row.snapshot),
      epoch: Number(row.snapshot_epoch),
      layout: row.layout,
      parts: row.snapshot_parts,
    }
  }

  async snapshotPart(slug: string, id: string, part: number): Promise<Uint8Array | null> {
    const [row] = await this.#control.query(statements.SNAPSHOT_PART, [slug, id, part])
    return row?.bytes ?? null
  }

  async saveSnapshotPart(slug: string, id: string, part: number, bytes: Uint8Array): Promise<void> {
    await this.#control.query(statements.SAVE_PART, [slug, id, part, bytes])
  }

  async publishSnapshot(slug: string, { id, n, epoch, layout, parts }: SnapshotHead): Promise<boolean> {
    const [row] = await this.#control.query(statements.PUBLISH, [slug, id, n, epoch, layout, parts])
    return Number(row?.count) > 0
  }

  async agree(settings: { readonly [name: string]: string }): Promise<readonly string[]> {
    const differing: string[] = []
    for (const [name, value] of Object.entries(settings)) {
      await this.#control.query(statements.AGREE, [name, value])
      const [row] = await this.#control.query(statements.AGREED, [name])
      if (row?.value !== value) differing.push(name)
    }
    return differing
  }

  /** Refuses a database that has gone back. Returns its timeline. */
  async #admit(run: Parameters<Admit>[0]): Promise<number> {
    const [row] = await run(statements.MARK)
    const mark = { timeline: row!.timeline, position: Number(row!.position) }
    await this.#guard.admit(mark, async (slugs) => (await run(statements.FIND, [listOf(slugs)])).map(toTenant))
    return mark.timeline
  }

  async close(): Promise<void> {
    await Promise.all([this.#appends.close(), this.#control.close()])
  }
}

/** A list as PostgreSQL reads it. Slugs and numbers need no quotes. */
function listOf(values: readonly (string | number)[]): string {
  return `{${values.join(',')}}`
}

function toNode(row: Row): NodeRow {
  const { session, name, url, draining, layout, version } = row
  return { session, name, url, beat: Number(row.beat), draining, layout, version }
}

function toTenant(row: Row): TenantRow {
  const { slug, owner, pin, layout } = row
  return {
    slug,
    owner,
    epoch: Number(row.epoch),
    head: Number(row.head),
    pin,
    due: row.due === null ? null : Number(row.due),
    layout,
    snapshot: Number(row.snapshot),
    erased: Number(row.erased),
    clock: Number(row.clock),
  }
}

function toChange(row: Row): Change {
  return { n: Number(row.n), epoch: Number(row.epoch), before: Number(row.before), bytes: row.changes }
}
