import { type JsonObject, type Noun, type Nouns, Problem, type Verb } from '@tildebase/nouns'
import { grantFor } from '../grant/grant.ts'
import { newId } from '../ids.ts'
import type { Alarm, Clock, Outbound, Random, Script, Seal, Sql, TransactionWay } from '../ports.ts'
import type { Totals } from '../query/reader.ts'
import { nounsFor } from '../services/schema.ts'
import { type Session, sessionOf } from '../services/session.ts'
import type { WebhookOptions } from '../services/webhooks/retry.ts'
import type { Current, Stored } from '../store/entities.ts'
import { type IndexedField, numberFields } from '../store/field-index.ts'
import { append, type Head, hasEntry, type LogRow, lastSeq, readHead } from '../store/log.ts'
import { ensureLayout } from '../store/meta.ts'
import { replacedSeq } from '../store/versions.ts'
import type { Compute } from '../write/execute.ts'
import type { HookRetry } from '../write/hook-retry.ts'
import type { Hooks } from '../write/hooks.ts'
import { applyVerb, type VerbRequest, type VerbResult } from '../write/verb.ts'
import { Cache } from './cache.ts'
import { Scheduler } from './scheduler.ts'

/** What a tenant needs of its host. */
export interface Ports {
  readonly sql: Sql
  readonly clock: Clock
  readonly random: Random
  readonly seal: Seal
  readonly alarm: Alarm
  readonly outbound?: Outbound
  readonly script?: Script
}

/** What the operator decides for all tenants. */
export interface TenantOptions {
  /** The built-in types and those of the operator's configuration. */
  readonly nouns: Nouns
  readonly hooks?: Hooks
  /** The {base_url} that events and webhooks show in `$context`. */
  readonly baseUrl: string
  /** How long a query may run. */
  readonly queryMs?: number
  /** How webhooks are delivered. */
  readonly webhooks?: WebhookOptions
  /** Where the operator reads what went wrong inside. */
  readonly log?: (level: 'info' | 'warn' | 'error', message: string, facts?: object) => void
}

/** Sees every event inside its transaction: what it writes is durable with the event, or not at all. */
export type TransactionListener = (event: LogRow, entity: Stored) => void

/** Sees the events of a transaction once they are durable. */
export type Listener = (events: readonly LogRow[]) => void

/** A tenant: a synchronous value over one SQLite database. */
export class Engine extends Scheduler {
  readonly sql: Sql
  readonly cache = new Cache()
  readonly transactionListeners: TransactionListener[] = []
  readonly #listeners = new Set<Listener>()
  head: Head
  /** Works out `$computed` values; set by the services that know how. */
  compute: Compute = () => undefined
  /** When keys were used since it was last written down, and since when. */
  readonly used = new Map<string, number>()
  usedSince = 0
  /** What stored hooks said about the write under way. */
  trial: HookRetry | null = null
  /** How many AFTER hooks, one after the other, led to what is being written. */
  hops = 0
  #written: LogRow[] = []
  #backs: (() => void)[] = []
  #depth = 0
  /** No event is written at or before this time: it has been given out as the end of a sync. */
  floor = 0

  constructor(slug: string, ports: Ports, options: TenantOptions) {
    super(slug, ports, options)
    this.sql = ports.sql
    ensureLayout(ports.sql)
    this.head = readHead(ports.sql)
  }

  /** The tenant's namespace, as events and webhooks show it. */
  get context(): string {
    return `${this.options.baseUrl}/~${this.slug}`
  }

  /** The time of the next event: never before the last one, nor at or before a time that was given out as synced. */
  now(): number {
    return Math.max(this.ports.clock.now(), this.head.at, this.floor + 1)
  }

  /** The types of this tenant. */
  get nouns(): Nouns {
    return this.cache.get(SCHEMA, 'nouns', () => nounsFor(this))
  }

  /** The type of that name or path, or a problem that names the nearest ones. */
  noun(name: string): Noun {
    const noun = this.nouns.get(name)
    if (noun) return noun
    const nearest = this.nouns.nearest(name)
    const hint = nearest.length > 0 ? ` Did you mean ${nearest.join(' or ')}?` : ''
    throw new Problem('unknown_type', `There is no type ${name.slice(0, 100)}.${hint}`, { nearest })
  }

  /** The indexed fields of a noun with their numbers. */
  indexed(noun: Noun): readonly IndexedField[] {
    return this.cache.get(['Schema', 'Fields'], `indexed ${noun.name}`, () => numberFields(this.sql, noun))
  }

  /** The number of an indexed field, or null when the field has none. */
  fieldNumber(type: string, name: string): number | null {
    const noun = this.nouns.get(type)
    return (noun && this.indexed(noun).find((field) => field.name === name)?.number) ?? null
  }

  /** Totals that were counted before, until a type they depend on changes. */
  readonly totals: Totals = {
    get: (key) => this.cache.peek<number>(`total ${key}`),
    set: (key, types, total) => void this.cache.get(['Schema', ...types], `total ${key}`, () => total),
  }

  /** Runs `work` whole or not at all. What it wrote is told to the listeners once the outermost one is done. */
  transaction<T>(work: () => T extends PromiseLike<unknown> ? never : T, way?: TransactionWay): T {
    const { head } = this
    const written = this.#written.length
    const backs = this.#backs.length
    let runs = 0
    this.#depth++
    try {
      return this.sql.transaction(() => {
        if (runs++ > 0) this.#goBack(head, written, backs)
        const result = work()
        if (this.#depth === 1) this.#checkHead()
        return result as never
      }, way)
    } catch (reason) {
      this.#goBack(head, written, backs)
      throw reason
    } finally {
      this.#depth--
      if (this.#depth === 0) this.#tell()
    }
  }

  /** Calls `back` if the transaction under way is undone: for what its work changes outside the database. */
  onRollback(back: () => void): void {
    this.#backs.push(back)
  }

  /** Runs `work` as if it happened, and leaves no trace. Tells what it gave and which events it would have written. */
  dryRun<T>(work: () => T): { result: T; events: LogRow[] } {
    const written = this.#written.length
    let rehearsed: { result: T; events: LogRow[] } | undefined
    try {
      this.transaction((): never => {
        rehearsed = { result: work(), events: this.#written.slice(written) }
        throw REHEARSED
      }, 'guarded')
    } catch (reason) {
      if (reason !== REHEARSED) throw reason
    }
    return rehearsed!
  }

  /** Runs `work` with these ports in place of its own. */
  with<T>(ports: Partial<Ports>, work: () => T): T {
    const own = this.ports
    this.ports = { ...own, ...ports }
    try {
      return work()
    } finally {
      this.ports = own
    }
  }

  /** Runs `work` as the consequence of that many AFTER hooks, one after the other. */
  after<T>(hops: number, work: () => T): T {
    const outer = this.hops
    this.hops = hops
    try {
      return work()
    } finally {
      this.hops = outer
    }
  }

  /** The tenant's data for its own code, under a name that the log shows. */
  session(actor: string): Session {
    return sessionOf(this, grantFor(actor))
  }

  /** Runs a verb whole: BEFORE, execute, its event. */
  act(ask: VerbRequest): VerbResult {
    return this.#depth > 0 ? applyVerb(this, ask) : this.transaction(() => applyVerb(this, ask))
  }

  /** Appends the event of a verb to the log and shows it to the witnesses. `replaced` is the version before. */
  append(
    verb: Verb,
    ask: VerbRequest,
    entity: Stored,
    previous: JsonObject | null,
    replaced: Current | null,
    id?: string,
  ): LogRow {
    const { clock, random, seal } = this.ports
    const entry = {
      id: id ?? newId('event', clock, random),
      at: entity.updatedAt,
      type: entity.type,
      entity: entity.id,
      verb: verb.name,
      event: verb.event,
      version: entity.version,
      actor: ask.actor,
      correlation: ask.correlation ?? null,
      createdAt: entity.createdAt,
      createdBy: entity.createdBy,
      data: entity.data,
      previous: previous && JSON.stringify(previous),
    }
    this.head = append(this.sql, seal, random, this.head, entry, replacedSeq(replaced))
    const row = { seq: this.head.seq, ...entry }
    this.#written.push(row)
    this.cache.forget(entity.type)
    for (const witness of this.transactionListeners) witness(row, entity)
    return row
  }

  hasEvent(id: string): boolean {
    return hasEntry(this.sql, id)
  }

  /** Calls `listener` with the events of every transaction from now on; returns how to stop it. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** What was sealed must stand where it was sealed for. */
  #checkHead(): void {
    if (this.#written.length === 0 || lastSeq(this.sql) === this.head.seq) return
    throw new Error(`The log of ${this.slug} does not end with event ${this.head.seq}: this commit is not kept.`)
  }

  #goBack(head: Head, written: number, backs: number): void {
    this.head = head
    for (const { type } of this.#written.splice(written)) this.cache.forget(type)
    // Numbers given to fields in this transaction went with it, and so did its part of the log.
    this.cache.forget('Fields')
    this.cache.forget('Log')
    for (const back of this.#backs.splice(backs).toReversed()) back()
  }

  #tell(): void {
    this.#backs = []
    if (this.#written.length === 0) return
    const events = this.#written
    this.#written = []
    for (const listener of this.#listeners) listener(events)
  }
}

const SCHEMA = ['Schema']
const REHEARSED = Symbol('rehearsed')
