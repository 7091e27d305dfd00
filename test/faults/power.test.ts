import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { pageSumsOf, refuseDamaged } from '../../packages/server/src/node/sqlite/checks/file-damage.ts'
import { sumRecordOf, writeSumRecord } from '../../packages/server/src/node/sqlite/checks/sum-file.ts'
import type { FileSync } from '../../packages/server/src/node/sqlite/disk-sync.ts'
import { openSql } from '../../packages/server/src/node/sqlite/sql.ts'
import { Chance } from '../chance.ts'

const SECTOR = 512
const HEAD = 32
const FILES = ['', '-wal', '-sum']
const RUNS = Number(process.env.TILDE_POWER_RUNS ?? 8)

/** A disk that has what was synced, and of the rest whatever sectors it has come to. */
class Disk implements FileSync {
  readonly #chance: Chance
  readonly #synced = new Map<string, Buffer>()
  /** Whether the name of the log is on the disk. */
  #hasNames = false
  /** Called when a sync begins. */
  begins: (path: string) => void = () => {}

  constructor(chance: Chance) {
    this.#chance = chance
  }

  now(_: number, path: string): void {
    // Now and then it is slow: syncs are then left to another thread for a while.
    const end = performance.now() + (this.#chance.next() < 0.2 ? 2 : 0)
    while (performance.now() < end);
    this.#synced.set(path, readFileSync(path))
  }

  later(_: number, path: string, done: (reason: null) => void): void {
    const content = readFileSync(path)
    this.begins(path)
    setTimeout(() => {
      this.#synced.set(path, content)
      done(null)
    }, this.#chance.next() * 3)
  }

  folder(_: number, __: string, done: (reason: null) => void): void {
    setTimeout(() => {
      this.#hasNames = true
      done(null)
    }, this.#chance.next() * 3)
  }

  /** SQLite itself syncs the head of a log that it starts again, before it writes to it. */
  noticeHead(log: string): void {
    const kept = this.#synced.get(log)
    if (kept) readFileSync(log).copy(kept, 0, 0, HEAD)
  }

  /** What is left of a file when the power fails. */
  afterCut(path: string): Buffer {
    const kept = this.#synced.get(path) ?? Buffer.alloc(0)
    if (path.endsWith('-wal') && !this.#hasNames && this.#chance.next() < 0.5) return Buffer.alloc(0)
    const written = readFileSync(path)
    // That it became shorter may not be on the disk either.
    const length = this.#chance.next() < 0.5 ? written.length : Math.min(kept.length, written.length)
    const left = Buffer.alloc(length)
    const share = this.#chance.next()
    for (let at = 0; at < length; at += SECTOR) {
      const from = this.#chance.next() < share ? written : kept
      if (at < from.length) from.copy(left, at, at, Math.min(at + SECTOR, length))
    }
    return left
  }
}

test(`what was acknowledged is there after a power cut, and the file is whole (${RUNS} files)`, async () => {
  const seed = Number(process.env.TILDE_SEED ?? Date.now() % 1_000_000)
  const chance = new Chance(seed)
  let cuts = 0
  let copies = 0
  let compared = 0
  for (let run = 0; run < RUNS; run++) {
    const folder = mkdtempSync(join(tmpdir(), 'tildebase-power-'))
    const path = join(folder, 'tenant.db')
    const disk = new Disk(chance)
    const fresh = openSql(path)
    fresh.run('CREATE TABLE t (n INTEGER PRIMARY KEY, pair INTEGER, filler BLOB) STRICT')
    fresh.close()
    disk.now(0, path)
    const sums = pageSumsOf(path)
    writeSumRecord(path, sums)
    disk.now(0, `${path}-sum`)
    const sql = openSql(path, { deferred: true, sums, disk: { sync: disk, mostPages: 500 } })
    const acknowledged = new Set<number>()
    const marks: Buffer[] = []
    const cut = () => {
      cuts++
      const after = join(folder, `${cuts}.db`)
      for (const suffix of FILES) writeFileSync(`${after}${suffix}`, disk.afterCut(`${path}${suffix}`))
      // The mark is not synced: the disk has any of those that were written. None claims more than the log has.
      const newest = statSync(`${path}-mark`, { throwIfNoEntry: false }) ? readFileSync(`${path}-mark`) : null
      if (newest) marks.push(newest)
      const kept = chance.next() < 0.5 ? newest : marks[Math.floor(chance.next() * marks.length)]
      if (kept) writeFileSync(`${after}-mark`, kept)
      refuseDamaged(after)
      if (sumRecordOf(after) !== null) compared++
      const left = openSql(after)
      const pairs = left.rows('SELECT pair, count(*) FROM t WHERE n > 1 GROUP BY pair')
      const faults = left.faults!()
      left.close()
      const present = new Set(pairs.map(([pair]) => pair))
      const lost = [...acknowledged].filter((n) => !present.has(n))
      const halves = pairs.filter(([, count]) => count !== 2)
      expect({ faults, lost, halves }, `seed ${seed}, run ${run}, cut ${cuts}`).toEqual({
        faults: [],
        lost: [],
        halves: [],
      })
    }
    disk.begins = (file) => {
      if (file !== path) return
      copies++
      if (chance.next() < 0.7) cut()
    }

    for (let n = 1; n <= 200; n++) {
      // Most writers wait while the log is copied; background work does not.
      if (chance.next() < 0.8) await sql.ready!(Math.floor(chance.next() * 20))
      sql.transaction(() => {
        sql.run('INSERT INTO t VALUES (?, ?, ?)', 2 * n, n, new Uint8Array(Math.floor(chance.next() * 60_000)))
        sql.run('INSERT INTO t VALUES (?, ?, NULL)', 2 * n + 1, n)
        sql.run('UPDATE t SET filler = zeroblob(3000) WHERE n = ?', 2 * Math.floor(chance.next() * n))
      })
      disk.noticeHead(`${path}-wal`)
      const pending = sql.pending()
      const settled = pending === null ? acknowledged.add(n) : pending.then(() => acknowledged.add(n))
      const now = chance.next()
      if (now < 0.1) await settled
      else if (now < 0.5) await pause(now * 4)
      // The first commit creates the log.
      if (chance.next() < (n === 1 ? 0.5 : 0.08)) cut()
      if (chance.next() < 0.02) await sql.settle()
    }
    await sql.pending()
    sql.close()
    rmSync(folder, { recursive: true, force: true })
  }
  expect(cuts).toBeGreaterThan(RUNS * 5)
  expect(copies).toBeGreaterThan(RUNS)
  expect(compared).toBeGreaterThan(RUNS)
})
