import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { pageSumsOf, refuseDamaged, seal } from '../../packages/server/src/node/sqlite/checks/file-damage.ts'
import { dropSumRecord, writeSumRecord } from '../../packages/server/src/node/sqlite/checks/sum-file.ts'
import { readWal } from '../../packages/server/src/node/sqlite/checks/wal.ts'
import type { FileSync } from '../../packages/server/src/node/sqlite/disk-sync.ts'
import { type NodeSql, openSql } from '../../packages/server/src/node/sqlite/sql.ts'
import { Chance } from '../chance.ts'
import { verifies } from '../verifies.ts'

const PAGE = 2_048
const SEED = Number(process.env.TILDE_SEED ?? Date.now() % 1_000_000)
const RUNS = Number(process.env.TILDE_SUM_RUNS ?? 2)
const WRITES = 80

/** The files that a process leaves which is killed: what it has written, on the disk or not. */
class Killed {
  readonly found = { whole: 0, flipped: 0, copying: 0 }
  /** Whole files that were refused, and flipped ones that were not. A sync that throws would end the use of the file. */
  readonly wrong: string[] = []
  readonly #folder: string
  readonly #path: string
  readonly #chance: Chance
  #count = 0

  constructor(folder: string, path: string, chance: Chance) {
    this.#folder = folder
    this.#path = path
    this.#chance = chance
  }

  /** Compares the files of this moment, as they are and with a flipped bit. */
  look(database = readFileSync(this.#path)): void {
    const slug = join(this.#folder, `${this.#count++}.db`)
    for (const suffix of ['-wal', '-mark', '-sum'])
      if (existsSync(`${this.#path}${suffix}`)) copyFileSync(`${this.#path}${suffix}`, `${slug}${suffix}`)
    writeFileSync(slug, database)
    // The log was not copied into it since the last commit.
    utimesSync(slug, 1_700_000_000, 1_700_000_000)
    if (isRefused(slug)) this.wrong.push(`whole file ${this.#count} is refused`)
    this.found.whole++
    const inLog = readWal(`${slug}-wal`)?.written ?? new Set()
    const pages = Array.from({ length: Math.floor(database.length / PAGE) }, (_, i) => i + 1)
    const outside = pages.filter((page) => !inLog.has(page))
    if (outside.length === 0) return
    const page = outside[Math.floor(this.#chance.next() * outside.length)]!
    const flipped = Buffer.from(database)
    flipped[(page - 1) * PAGE + Math.floor(this.#chance.next() * PAGE)]! ^= 1 << Math.floor(this.#chance.next() * 8)
    writeFileSync(`${slug}-flipped`, flipped)
    for (const suffix of ['-wal', '-mark', '-sum'])
      if (existsSync(`${slug}${suffix}`)) copyFileSync(`${slug}${suffix}`, `${slug}-flipped${suffix}`)
    if (!isRefused(`${slug}-flipped`))
      this.wrong.push(`page ${page} of ${pages.length} is flipped in file ${this.#count}`)
    this.found.flipped++
  }

  /** The copying of the log has come anywhere: any pages of it are in the file. */
  lookDuringCopy(before: Buffer, after: Buffer): void {
    const share = this.#chance.next()
    const mixed = Buffer.from(before.length > after.length || this.#chance.next() < 0.3 ? before : after)
    const inLog = readWal(`${this.#path}-wal`)?.written ?? new Set()
    for (const page of inLog) {
      const from = this.#chance.next() < share ? after : before
      if (page * PAGE <= from.length && page * PAGE <= mixed.length)
        from.copy(mixed, (page - 1) * PAGE, (page - 1) * PAGE, page * PAGE)
    }
    this.found.copying++
    this.look(mixed)
  }
}

function isRefused(path: string): boolean {
  try {
    refuseDamaged(path)
    return false
  } catch {
    return true
  }
}

function write(sql: NodeSql, chance: Chance, n: number): void {
  const below = (most: number) => Math.floor(chance.next() * most)
  sql.transaction(() => {
    sql.run('INSERT OR REPLACE INTO t VALUES (?, ?)', n, new Uint8Array(below(chance.next() < 0.1 ? 90_000 : 3_000)))
    if (chance.next() < 0.4) sql.run('UPDATE t SET filler = zeroblob(?) WHERE n = ?', below(5_000), below(n))
    if (chance.next() < 0.2) sql.run('DELETE FROM t WHERE n BETWEEN ? AND ?', below(n), below(n))
    // Pages that are new and freed in one commit are never written.
    if (chance.next() < 0.2) {
      sql.run('INSERT INTO t VALUES (?, zeroblob(40000))', -n)
      sql.run('DELETE FROM t WHERE n = ?', -n)
    }
  })
}

verifies(
  'files.damaged',
  `a file that a kill leaves at any moment is whole, and with a flipped bit it is refused (seed ${SEED}, ${RUNS} files)`,
  async () => {
    const chance = new Chance(SEED)
    for (let run = 0; run < RUNS; run++) {
      const folder = mkdtempSync(join(tmpdir(), 'tildebase-sums-'))
      const path = join(folder, 'tenant.db')
      const fresh = openSql(path)
      fresh.run('CREATE TABLE t (n INTEGER PRIMARY KEY, filler BLOB) STRICT')
      fresh.close()
      const sums = pageSumsOf(path)
      writeSumRecord(path, sums)
      const killed = new Killed(folder, path, chance)
      let before = readFileSync(path)
      // The log is copied between the syncs of the checksum and of the database.
      const beforeCopy = (file: string) => {
        if (file.endsWith('-sum')) before = readFileSync(path)
      }
      const sync: FileSync = {
        now: (_, file) => beforeCopy(file),
        folder: (_, __, done) => setImmediate(() => done(null)),
        later: (_, file, done) => {
          beforeCopy(file)
          if (file === path) killed.lookDuringCopy(before, readFileSync(path))
          setImmediate(() => done(null))
        },
      }
      const sql = openSql(path, { deferred: true, sums, disk: { sync, mostPages: 150 } })
      for (let n = 1; n <= WRITES; n++) {
        if (chance.next() < 0.8) await sql.ready!(1)
        write(sql, chance, n)
        if (chance.next() < 0.1) killed.look()
        if (chance.next() < 0.05) await sql.settle()
        if (chance.next() < 0.1) {
          // It does not wait for the sync of the commit.
          sql.scrub!()
          killed.look()
          if (chance.next() < 0.5) write(sql, chance, WRITES + n)
          await pause(1)
          killed.look()
        }
        if (chance.next() < 0.02) await writeLong(sql, killed, chance, n)
      }
      await sql.pending()
      killed.look()
      sql.close()
      expect(sums.sum, `seed ${SEED}`).toBe(pageSumsOf(path).sum)
      seal(path)
      dropSumRecord(path)
      killed.look()
      rmSync(folder, { recursive: true, force: true })
      expect(killed.wrong, `seed ${SEED}`).toEqual([])
      expect(killed.found.flipped).toBeGreaterThan(5)
      expect(killed.found.copying).toBeGreaterThan(0)
    }
  },
)

/** A long transaction, with a log that is copied by another thread. */
async function writeLong(sql: NodeSql, killed: Killed, chance: Chance, n: number): Promise<void> {
  const long = await sql.long!(() => {})
  for (let i = 0; i < 30; i++) long.sql.run('INSERT INTO t VALUES (?, zeroblob(300000))', 1_000_000 * n + i)
  killed.look()
  if (chance.next() < 0.3) long.rollback()
  else await long.commit()
  killed.look()
  await long.release()
  killed.look()
}
