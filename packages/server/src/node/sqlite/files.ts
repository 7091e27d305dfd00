import { randomUUID } from 'node:crypto'
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Nouns, Problem } from '@tildebase/nouns'
import {
  hasPeople as anyPeople,
  type Contradiction,
  contradictionsIn,
  keyIdOf,
  knowsToken,
  layOut,
  type Misfits,
  misfitsIn,
} from '@tildebase/tenant/internal'
import { systemSeal } from '../../host/ports.ts'
import { SCRATCH } from '../operator/scratch.ts'
import { comparing, endUse, hasChanged, pageSumsOf, refuseDamaged, unseal } from './checks/file-damage.ts'
import type { PageSums } from './checks/page-sums.ts'
import { clearSumRecord, dropSumRecord, sumRecordOf, writeSumRecord } from './checks/sum-file.ts'
import { SUFFIXES } from './checks/wal-mark.ts'
import { canDefer, syncPath } from './disk-sync.ts'
import { hasLog } from './opened-file.ts'
import { openSql } from './sql.ts'

/** What the names of the files next to a tenant's own end with. */
const BESIDE = SUFFIXES.filter((suffix) => suffix !== '')

/** Where the tenants' files are. Two letters of the slug make a folder, so that no folder holds them all. */
export class TenantFiles {
  readonly #folder: string
  readonly #template: string
  /** Where removed files are until they are gone. The host empties it at its start. */
  readonly #scratch: string
  /** The tenant whose file was just copied from the empty one, and the checksum of that. */
  #fresh: string | null = null
  #templateSums: PageSums | null = null

  constructor(data: string) {
    this.#folder = join(data, 'tenants')
    this.#template = join(data, 'template.db')
    this.#scratch = join(data, SCRATCH)
  }

  /** Makes the folder and the empty tenant that new ones are copied from. Once per start of the host, in one thread. */
  prepare(): void {
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      accessSync(this.#folder, constants.W_OK)
    } catch (reason) {
      const { code } = reason as NodeJS.ErrnoException
      throw new Problem('unavailable', `The data folder cannot be written to (${code}): ${this.#folder}`)
    }
    this.#makeTemplate()
  }

  /** The empty tenant. */
  get template(): string {
    return this.#template
  }

  /** The file of a tenant. The slug has been checked at the door. */
  pathOf(slug: string): string {
    return join(this.#folder, slug.slice(0, 2), `${slug}.db`)
  }

  has(slug: string): boolean {
    return existsSync(this.pathOf(slug))
  }

  /** Compares the large file of a closed tenant with its checksum, step by step; null when `beginUse` takes no longer. */
  comparing(slug: string): Iterator<void, void> | null {
    return comparing(this.pathOf(slug))
  }

  /**
   * Refuses a tenant whose file is not whole. The checksum of a file in use is next to it, if the connection `keepsSums`
   * of the pages, which are returned.
   */
  beginUse(slug: string, keepsSums: boolean): PageSums | null {
    const path = this.pathOf(slug)
    const isFresh = this.#fresh === slug
    this.#fresh = null
    if (!isFresh) refuseDamaged(path)
    if (!keepsSums) {
      unseal(path)
      clearSumRecord(path)
      return null
    }
    const sums = isFresh ? this.#emptySums() : pageSumsOf(path)
    // A killed process has left pages that the disk may not have: the checksum must not come to it before them.
    if (hasLog(path) && sumRecordOf(path)?.copying !== null) syncPath(path)
    unseal(path)
    writeSumRecord(path, sums)
    return sums
  }

  /** Adds a checksum to the file of a tenant that is closed, which is that of these pages. */
  endUse(slug: string, sums: PageSums | null): void {
    endUse(this.pathOf(slug), sums)
  }

  /** Whether the file of a closed tenant has all of its pages, but not as they were written. */
  hasChanged(slug: string): boolean {
    return hasChanged(this.pathOf(slug))
  }

  /** Whether a closed tenant knows a key, valid or not any more. */
  hasKey(slug: string, secret: string): boolean {
    return hasKey(this.pathOf(slug), secret)
  }

  /** Whether any person can sign in to a closed tenant. */
  hasPeople(slug: string): boolean {
    return hasPeople(this.pathOf(slug))
  }

  /** Refuses a slug without a tenant. */
  demandThere(slug: string): void {
    if (!this.has(slug)) throw new Problem('not_found', `There is no tenant ${slug}.`, { id: slug })
  }

  /** Refuses to make a tenant where one is. */
  demandFree(slug: string): void {
    if (!this.has(slug)) return
    throw new Problem('conflict', `The tenant ${slug} already exists. Use another name, or delete it first.`, {
      id: slug,
    })
  }

  /** Creates the file of a new tenant, on the disk. */
  create(slug: string): void {
    this.begin(slug)
    this.#fresh = null
    syncPath(dirname(this.pathOf(slug)))
  }

  /**
   * Creates the file of a new tenant for its first write, as a copy of an empty one: that need not lay out tables. SQLite
   * syncs the folder, in which it creates its log, before that write is answered.
   */
  begin(slug: string): void {
    const fresh = join(this.#folder, `${slug}.new`)
    copyFileSync(this.#template, fresh)
    this.#move(slug, fresh)
    this.#fresh = slug
  }

  /** Moves a closed file to where a new tenant's own is, on the disk. */
  adopt(slug: string, from: string): void {
    this.#move(slug, from)
    syncPath(dirname(this.pathOf(slug)))
  }

  /** Only the thread that the tenant is in does this: between the test and the move nothing can create it. */
  #move(slug: string, from: string): void {
    this.demandFree(slug)
    const path = this.pathOf(slug)
    const folder = dirname(path)
    demandClosed(from)
    syncPath(from)
    for (;;) {
      if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) syncPath(this.#folder)
      try {
        // Left by a tenant of this name that was deleted: SQLite would add its writes to the new file.
        for (const suffix of BESIDE) rmSync(`${path}${suffix}`, { force: true })
        renameSync(from, path)
        break
      } catch (reason) {
        // Another thread may have removed the folder with the last tenant that was in it.
        if (existsSync(folder)) throw reason
      }
    }
  }

  /** Moves the files of a closed tenant to a path, as they are. What a kill has left behind comes with the next call. */
  setAside(slug: string, to: string): void {
    const from = this.pathOf(slug)
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
    // The database first: without its log it would be opened as an older one.
    for (const suffix of SUFFIXES) if (existsSync(`${from}${suffix}`)) renameSync(`${from}${suffix}`, `${to}${suffix}`)
    syncPath(dirname(to))
    syncPath(dirname(from))
  }

  /** Removes the file of a tenant, and its folder when it was the last one there. */
  remove(slug: string): void {
    const path = this.pathOf(slug)
    this.#removeLarge(path)
    for (const suffix of BESIDE) rmSync(`${path}${suffix}`, { force: true })
    try {
      rmdirSync(dirname(path))
    } catch {
      // There are others in it.
    }
  }

  /** All tenants there are, in no order. Other work continues while the folders are read. */
  async allSlugs(): Promise<string[]> {
    const entries = await readdir(this.#folder, { withFileTypes: true })
    const slugs: string[] = []
    for (const entry of entries) {
      if (!entry.isDirectory()) continue
      // The folder is removed with the last tenant in it.
      for (const name of await readdir(join(this.#folder, entry.name)).catch(() => []))
        if (name.endsWith('.db')) slugs.push(name.slice(0, -'.db'.length))
    }
    return slugs
  }

  /**
   * The types of closed tenants that contradict those of the program, and the entities that do not fit them, by tenant. What
   * is not found within `ms` is reported when its tenant is opened.
   */
  async contradictions(program: Nouns, ms: number): Promise<[string, Contradiction | Misfits][]> {
    const until = performance.now() + ms
    const isLate = () => performance.now() > until
    const found: [string, Contradiction | Misfits][] = []
    for (const slug of await this.allSlugs()) {
      if (isLate()) break
      // All of a large file would be read before it is opened.
      if (this.comparing(slug)) continue
      try {
        during(this.pathOf(slug), (sql) => {
          for (const one of contradictionsIn(sql, program)) found.push([slug, one])
          for (const one of misfitsIn(sql, program, isLate)) found.push([slug, one])
        })
      } catch {
        // A file that cannot be read says so when its tenant is opened.
      }
    }
    return found
  }

  /** Tenants that were open when the process died: their log of writes is still next to their file. */
  interrupted(): string[] {
    return this.#names()
      .filter((name) => name.endsWith('.db-wal'))
      .map((name) => name.slice(0, -'.db-wal'.length))
  }

  #names(): string[] {
    return readdirSync(this.#folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap((entry) => readdirSync(join(this.#folder, entry.name)))
  }

  /** Moves a file away, and frees its space while requests continue: for a large file that takes a while. */
  #removeLarge(path: string): void {
    const gone = join(this.#scratch, `${randomUUID()}.gone`)
    try {
      mkdirSync(this.#scratch, { recursive: true, mode: 0o700 })
      renameSync(path, gone)
    } catch {
      rmSync(path, { force: true })
      return
    }
    // One that is left over goes with the next start.
    rm(gone, { force: true }).catch(() => {})
  }

  #emptySums(): PageSums {
    this.#templateSums ??= pageSumsOf(this.#template)
    return this.#templateSums.copy()
  }

  /** Made again at every start: it belongs to the program's version, not to the data. */
  #makeTemplate(): void {
    const fresh = `${this.#template}.${process.pid}`
    rmSync(fresh, { force: true })
    const sql = openSql(fresh)
    layOut(sql)
    sql.close()
    renameSync(fresh, this.#template)
  }
}

let empty: Uint8Array | undefined

/** The content of an empty tenant, for one in memory: a copy takes a sixth of the time of its layout. */
export function emptyTenant(): Uint8Array | undefined {
  if (empty) return empty
  const sql = openSql(':memory:')
  layOut(sql)
  empty = sql.content()
  sql.close()
  return empty
}

/** Refuses a file some of whose writes are still in the log next to it: they would stay behind. */
function demandClosed(path: string): void {
  const left = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (left > 0) throw new Problem('unavailable', 'The new file could not be completed; nothing was created.')
}

/**
 * Whether the file of a closed tenant knows a key, a token or a session, valid or not any more. Opens no tenant: a
 * client with an invalid key starts none of its jobs and closes no other tenant.
 */
function hasKey(path: string, secret: string): boolean {
  return during(path, (sql) => keyIdOf(sql, systemSeal, secret) !== null || knowsToken(sql, systemSeal, secret))
}

/** Whether any person can sign in to a closed tenant. */
function hasPeople(path: string): boolean {
  return during(path, anyPeople)
}

function during<T>(path: string, work: (sql: ReturnType<typeof openSql>) => T): T {
  refuseDamaged(path)
  // What a crash has left in the log is copied into the file when this is closed.
  const sums = hasLog(path) && canDefer() ? pageSumsOf(path) : null
  // A checksum of what is copied tells of a log that the disk has.
  if (sums) syncPath(`${path}-wal`)
  else if (hasLog(path)) clearSumRecord(path)
  // SQLite has closed it itself, and changed it.
  else dropSumRecord(path)
  const sql = openSql(path, { cacheKiB: 64, sums })
  try {
    return work(sql)
  } finally {
    sql.close()
    if (sums) endUse(path, sums)
  }
}
