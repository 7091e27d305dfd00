import { DatabaseSync } from 'node:sqlite'
import type { MaybePromise } from '../../doors/http.ts'
import { makePrivate } from '../sqlite/opened-file.ts'

/** The file, in the data folder. */
export const MAIL_ADDRESSES = 'mail-addresses.db'

/** The addresses of the mailbox of the service with the tenant of each, and how far the mailbox was read. */
export interface MailDirectory {
  /** Takes addresses for a tenant, and gives up those that it had before. Returns those of another tenant, and then takes none. */
  claim(slug: string, addresses: readonly string[]): MaybePromise<readonly string[]>
  /** The tenants of these addresses. */
  tenantsOf(addresses: readonly string[]): MaybePromise<readonly string[]>
  /** How far a mailbox was read, or null for its beginning. Undefined when another node of a cluster reads it. */
  placeIn(mailbox: string): MaybePromise<string | null | undefined>
  /** False when another node reads it now. */
  setPlace(mailbox: string, place: string): MaybePromise<boolean>
  close(): MaybePromise<void>
}

/** The same in a file, for a service on one machine. */
export class MailAddresses implements MailDirectory {
  readonly #db: DatabaseSync
  readonly #exists: (slug: string) => boolean

  constructor(path: string, exists: (slug: string) => boolean) {
    makePrivate(path)
    this.#db = new DatabaseSync(path)
    this.#exists = exists
    this.#db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    this.#db.exec('CREATE TABLE IF NOT EXISTS addresses (address TEXT PRIMARY KEY, tenant TEXT NOT NULL) WITHOUT ROWID')
    this.#db.exec('CREATE TABLE IF NOT EXISTS places (mailbox TEXT PRIMARY KEY, place TEXT NOT NULL) WITHOUT ROWID')
  }

  claim(slug: string, addresses: readonly string[]): readonly string[] {
    this.#db.exec('BEGIN IMMEDIATE')
    try {
      const taken = addresses.filter((address) => {
        const owner = this.#tenantOf(address)
        return owner !== null && owner !== slug && this.#exists(owner)
      })
      if (taken.length === 0) {
        this.#db.prepare('DELETE FROM addresses WHERE tenant = ?').run(slug)
        const add = this.#db.prepare('INSERT OR REPLACE INTO addresses (address, tenant) VALUES (?, ?)')
        for (const address of addresses) add.run(address, slug)
      }
      this.#db.exec('COMMIT')
      return taken
    } catch (reason) {
      this.#db.exec('ROLLBACK')
      throw reason
    }
  }

  tenantsOf(addresses: readonly string[]): readonly string[] {
    return [...new Set(addresses.flatMap((one) => this.#tenantOf(one) ?? []))]
  }

  placeIn(mailbox: string): string | null {
    const row = this.#db.prepare('SELECT place FROM places WHERE mailbox = ?').get(mailbox)
    return row ? String(row.place) : null
  }

  setPlace(mailbox: string, place: string): boolean {
    this.#db.prepare('INSERT OR REPLACE INTO places (mailbox, place) VALUES (?, ?)').run(mailbox, place)
    return true
  }

  close(): void {
    this.#db.close()
  }

  #tenantOf(address: string): string | null {
    const row = this.#db.prepare('SELECT tenant FROM addresses WHERE address = ?').get(address)
    return row ? String(row.tenant) : null
  }
}
