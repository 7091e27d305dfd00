import type { MailDirectory } from '../../node/outbound/mail-addresses.ts'
import type { Database } from './database.ts'
import { CLAIM_ADDRESSES, MAIL_TENANTS, READ_MAILBOX, SET_MAIL_PLACE, TENANT_ADDRESSES } from './statements.ts'

/** The addresses of the mailbox of the service, shared by the nodes of a cluster. */
export class PostgresMail implements MailDirectory {
  readonly #database: Database
  readonly #session: () => string

  /** `session` is that of this node, which is another one after it was declared dead. */
  constructor(database: Database, session: () => string) {
    this.#database = database
    this.#session = session
  }

  async claim(slug: string, addresses: readonly string[]): Promise<readonly string[]> {
    const before = (await this.#database.query(TENANT_ADDRESSES, [slug])).map((row) => String(row.address))
    const taken = await this.#take(slug, addresses)
    if (taken.length > 0) await this.#take(slug, before)
    return taken
  }

  async tenantsOf(addresses: readonly string[]): Promise<readonly string[]> {
    const rows = await this.#database.query(MAIL_TENANTS, [JSON.stringify(addresses)])
    return rows.map(({ slug }) => String(slug))
  }

  /** The first node that asks reads the mailbox as long as it is alive. */
  async placeIn(mailbox: string): Promise<string | null | undefined> {
    const [row] = await this.#database.query(READ_MAILBOX, [mailbox, this.#session()])
    return row && (row.place as string | null)
  }

  async setPlace(mailbox: string, place: string): Promise<boolean> {
    return (await this.#database.query(SET_MAIL_PLACE, [mailbox, this.#session(), place])).length > 0
  }

  close(): Promise<void> {
    return this.#database.close()
  }

  /** Takes those that no other tenant has, and returns the others. */
  async #take(slug: string, addresses: readonly string[]): Promise<readonly string[]> {
    const rows = await this.#database.query(CLAIM_ADDRESSES, [slug, JSON.stringify(addresses)])
    const own = new Set(rows.map(({ address }) => String(address)))
    return addresses.filter((address) => !own.has(address))
  }
}
