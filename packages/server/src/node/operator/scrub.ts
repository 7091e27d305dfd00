import { Problem } from '@tildebase/nouns'
import { log } from '../log.ts'
import { openSql } from '../sqlite/sql.ts'

/** How often it is asked which tenant is due, at most. */
const LOOK_MS = 60_000
const LEAST_MS = 100
/** After a verification it rests for so many times as long as that took, and no longer than the period. */
const REST = 9

export interface ScrubDeps {
  /** Where it is kept when each tenant was verified. */
  readonly path: string
  /** How long a tenant may go without a verification. */
  readonly every: number
  slugs(): Promise<readonly string[]>
  /** What is wrong with a tenant; null if nothing is. */
  verify(slug: string): Promise<string | null>
  /** Brings a damaged tenant back from what is elsewhere; absent where the operator does that. */
  repair?(slug: string): Promise<unknown>
  /** Writes down that a tenant is damaged, or whole again. */
  record(action: string, slug: string, facts: object): void
}

/**
 * Verifies every tenant from time to time, one after the other: damage on a disk is found before it is read. A new tenant is
 * first verified after a whole period.
 */
export class Scrub {
  readonly #deps: ScrubDeps
  readonly #sql: ReturnType<typeof openSql>
  #timer: NodeJS.Timeout | null = null
  #work: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(deps: ScrubDeps) {
    this.#deps = deps
    this.#sql = openSql(deps.path)
    this.#sql.run(
      'CREATE TABLE IF NOT EXISTS verified (tenant TEXT PRIMARY KEY, at INTEGER NOT NULL, damage TEXT) WITHOUT ROWID',
    )
  }

  start(): void {
    this.#later(Math.min(this.#deps.every, LOOK_MS))
  }

  /** Waits for the verification in progress. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    if (this.#timer) clearTimeout(this.#timer)
    await this.#work
    this.#sql.close()
  }

  /** What was wrong with a tenant when it was last verified. */
  damageOf(slug: string): string | null {
    return this.#sql.rows('SELECT damage FROM verified WHERE tenant = ?', slug)[0]?.[0] ?? null
  }

  /** Forgets what was found in a file that is not in use any more. */
  forget(slug: string): void {
    this.#sql.run('DELETE FROM verified WHERE tenant = ?', slug)
  }

  /** How many tenants were damaged when they were last verified. */
  get damaged(): number {
    return this.#sql.rows('SELECT count(*) FROM verified WHERE damage IS NOT NULL')[0]![0]
  }

  #later(ms: number): void {
    if (this.#isClosed) return
    this.#timer = setTimeout(() => {
      this.#work = this.#next().catch((reason) => log('error', 'A verification failed', { reason: String(reason) }))
    }, ms).unref()
  }

  async #next(): Promise<void> {
    const { every } = this.#deps
    const begun = Date.now()
    const slug = await this.#due(begun - every)
    if (slug === null) return this.#later(Math.min(every, LOOK_MS))
    try {
      await this.#verify(slug)
    } finally {
      this.#later(Math.max(LEAST_MS, Math.min(every, REST * (Date.now() - begun))))
    }
  }

  /** The tenant that has waited longest for its verification, if any was not verified since a time. */
  async #due(since: number): Promise<string | null> {
    const slugs = await this.#deps.slugs()
    const known = new Map(this.#sql.rows('SELECT tenant, at FROM verified') as unknown as [string, number][])
    this.#sql.transaction(() => {
      for (const slug of slugs)
        if (!known.delete(slug)) this.#sql.run('INSERT INTO verified (tenant, at) VALUES (?, ?)', slug, Date.now())
      for (const gone of known.keys()) this.#sql.run('DELETE FROM verified WHERE tenant = ?', gone)
    })
    const [row] = this.#sql.rows('SELECT tenant FROM verified WHERE at <= ? ORDER BY at LIMIT 1', since)
    return row?.[0] ?? null
  }

  async #verify(slug: string): Promise<void> {
    const damage = await this.#deps.verify(slug).catch(damageIn)
    this.#note(slug, damage)
    if (damage === null || !this.#deps.repair) return
    await this.#deps.repair(slug)
    this.#note(slug, await this.#deps.verify(slug).catch(damageIn))
  }

  #note(slug: string, damage: string | null): void {
    if (damage !== this.damageOf(slug)) {
      this.#deps.record(damage === null ? 'whole' : 'damage', slug, damage === null ? {} : { damage })
      log(damage === null ? 'info' : 'error', `The tenant ${slug} is ${damage === null ? 'whole again' : 'damaged'}`, {
        ...(damage !== null && { damage }),
      })
    }
    this.#sql.run('UPDATE verified SET at = ?, damage = ? WHERE tenant = ?', Date.now(), damage, slug)
  }
}

/** A file that is refused is damaged. A tenant that was deleted, or is busy, says nothing about its file. */
function damageIn(reason: unknown): string | null {
  if (reason instanceof Problem && reason.code === 'unavailable') return reason.message
  if (reason instanceof Problem) return null
  throw reason
}
