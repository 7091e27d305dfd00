import { DurableObject, type DurableObjectState } from 'cloudflare:workers'
import { isoOf } from '@tildebase/nouns'
import { BoundedMap } from '@tildebase/nouns/bounded-map'
import type { HttpRequest, HttpResponse } from '../doors/http.ts'
import { json, render } from '../doors/reply.ts'
import { parseJournalRequest, parseTenantsRequest } from '../doors/watch/log-request.ts'
import type { ObjectNamespace } from './env.ts'

/** What the directory is asked. */
type Question =
  | { readonly do: 'has' | 'add' | 'remove'; readonly slug: string }
  | { readonly do: 'warn'; readonly slug: string; readonly warning: string | null }
  | { readonly do: 'page'; readonly after: string; readonly offset: number; readonly limit: number }
  | { readonly do: 'record'; readonly action: string; readonly slug: string; readonly facts: object }
  | { readonly do: 'journal'; readonly before: number; readonly limit: number }

const NAME = 'directory'
const MOST_KNOWN = 10_000
const TABLES = [
  'CREATE TABLE IF NOT EXISTS tenants (slug TEXT PRIMARY KEY, addedAt INTEGER NOT NULL) WITHOUT ROWID',
  'CREATE TABLE IF NOT EXISTS warnings (slug TEXT PRIMARY KEY, warning TEXT NOT NULL) WITHOUT ROWID',
  'CREATE TABLE IF NOT EXISTS journal (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, action TEXT NOT NULL, tenant TEXT NOT NULL, facts TEXT NOT NULL)',
]

/** The object that knows which tenants there are, and what the operator did with them: objects cannot be listed. */
export class DirectoryObject extends DurableObject<unknown> {
  constructor(ctx: DurableObjectState, env: unknown) {
    super(ctx, env)
    for (const table of TABLES) this.#rows(table)
  }

  override async fetch(request: Request): Promise<Response> {
    return Response.json(this.#answer((await request.json()) as Question))
  }

  #answer(question: Question): object {
    switch (question.do) {
      case 'has':
        return { has: this.#rows('SELECT 1 FROM tenants WHERE slug = ?', question.slug).length > 0 }
      case 'add':
        this.#rows('INSERT OR IGNORE INTO tenants (slug, addedAt) VALUES (?, ?)', question.slug, Date.now())
        return {}
      case 'remove':
        this.#rows('DELETE FROM tenants WHERE slug = ?', question.slug)
        this.#rows('DELETE FROM warnings WHERE slug = ?', question.slug)
        return {}
      case 'warn':
        if (question.warning === null) this.#rows('DELETE FROM warnings WHERE slug = ?', question.slug)
        else
          this.#rows('INSERT OR REPLACE INTO warnings (slug, warning) VALUES (?, ?)', question.slug, question.warning)
        return {}
      case 'page': {
        const { after, offset, limit } = question
        const rows = this.#rows(
          `SELECT slug, warning
          FROM tenants
          LEFT JOIN warnings USING (slug)
          WHERE slug > ?
          ORDER BY slug
          LIMIT ? OFFSET ?`,
          after,
          limit + 1,
          offset,
        )
        const [[total]] = this.#rows('SELECT count(*) FROM tenants') as [[number]]
        const results = rows
          .slice(0, limit)
          .map(([tenant, warning]) => ({ tenant, ...(warning !== null && { warning }) }))
        const hasMore = rows.length > limit
        return { results, total, hasMore, cursor: hasMore ? results.at(-1)!.tenant : null }
      }
      case 'record': {
        const { action, slug, facts } = question
        const insert = 'INSERT INTO journal (at, action, tenant, facts) VALUES (?, ?, ?, ?)'
        this.#rows(insert, Date.now(), action, slug, JSON.stringify(facts))
        return {}
      }
      case 'journal': {
        const { before, limit } = question
        const select = 'SELECT id, at, action, tenant, facts FROM journal WHERE id < ? ORDER BY id DESC LIMIT ?'
        const rows = this.#rows(select, before, limit + 1)
        const [[total]] = this.#rows('SELECT count(*) FROM journal') as [[number]]
        const results = rows.slice(0, limit).map(([id, at, action, tenant, facts]) => {
          return { id, at: isoOf(at as number), action, tenant, ...JSON.parse(facts as string) }
        })
        const hasMore = rows.length > limit
        return { results, total, hasMore, cursor: hasMore ? String(results.at(-1)!.id) : null }
      }
    }
  }

  #rows(sql: string, ...values: unknown[]): unknown[][] {
    return [...this.ctx.storage.sql.exec(sql, ...values).raw()]
  }
}

/** The directory, as tenants and the Worker ask it. */
export class Directory {
  readonly #namespace: ObjectNamespace
  readonly #known = new BoundedMap<string, true>(MOST_KNOWN)

  constructor(namespace: ObjectNamespace) {
    this.#namespace = namespace
  }

  /** Whether there is a tenant of this name. Those that were found are remembered: an object knows when it was deleted. */
  async has(slug: string): Promise<boolean> {
    if (this.#known.has(slug)) return true
    const { has } = (await this.#ask({ do: 'has', slug })) as { has: boolean }
    if (!has) return false
    this.#known.set(slug, true)
    return true
  }

  async add(slug: string): Promise<void> {
    await this.#ask({ do: 'add', slug })
  }

  async remove(slug: string): Promise<void> {
    await this.#ask({ do: 'remove', slug })
  }

  /** Keeps what the list says about the space of a tenant; null is nothing. */
  async warn(slug: string, warning: string | null): Promise<void> {
    await this.#ask({ do: 'warn', slug, warning })
  }

  /** Writes down what the operator did with a tenant. */
  async record(action: string, slug: string, facts: object): Promise<void> {
    await this.#ask({ do: 'record', action, slug, facts })
  }

  /** A page of all tenants by name. */
  async list({ query }: HttpRequest): Promise<HttpResponse> {
    return render(json(200, await this.#ask({ do: 'page', ...parseTenantsRequest(query) })))
  }

  /** What the operator did, newest first. */
  async journal({ query }: HttpRequest): Promise<HttpResponse> {
    return render(json(200, await this.#ask({ do: 'journal', ...parseJournalRequest(query) })))
  }

  async #ask(question: Question): Promise<object> {
    const object = this.#namespace.get(this.#namespace.idFromName(NAME))
    const response = await object.fetch(
      new Request('http://directory/', { method: 'POST', body: JSON.stringify(question) }),
    )
    if (!response.ok) throw new Error(`The directory of tenants answered ${response.status}.`)
    return (await response.json()) as object
  }
}
