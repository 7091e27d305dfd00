import { isClockTime, type Noun, type Nouns, Problem } from '@tildebase/nouns'
import { BoundedMap } from '@tildebase/nouns/bounded-map'
import type { Clock, Random, Sql, TransactionWay } from '../ports.ts'
import { type IndexedField, numberFields } from '../store/field-index.ts'
import { append, type Entry, type EventPlace, type Head, type LogRow, lastSeq, readHead } from '../store/log/log.ts'
import { indexVersions } from '../store/log/versions.ts'
import { ensureLayout } from '../store/meta.ts'
import { forgetNames } from '../store/names.ts'
import { AutomationBudget } from './automation-budget.ts'
import type { Ports, TenantOptions } from './options.ts'
import { Scheduler } from './scheduler.ts'
import { type Steps, toEnd } from './turns.ts'
import { typesOf } from './types.ts'

/** Receives the events of a transaction once they are durable. */
export type CommitListener = (events: readonly LogRow[]) => void

/** The state of one tenant: its database, its types, the end of its log. Reading and writing are above it. */
export class Engine {
  readonly slug: string
  readonly ports: Ports
  readonly options: TenantOptions
  readonly sql: Sql
  readonly cache = new Cache()
  readonly scheduler: Scheduler
  /** What timers, workflows and hooks may write. */
  readonly automation: AutomationBudget
  head: Head
  /** No event is written at or before this time: it was given out as the end of a sync. */
  syncedUntil = 0
  /** The end of the log when the past was last brought up to it; null if that was perhaps undone since. */
  #folded: number | null = null
  readonly #listeners = new Set<CommitListener>()
  #toldMigration = 0
  readonly #nouns = this.cache.memo(SCHEMA, () =>
    typesOf(this.sql, this.options.nouns, ({ type, message }) =>
      this.options.log?.('error', `The type ${type} of ${this.slug} contradicts the program`, { reason: message }),
    ),
  )
  readonly #indexed = this.cache.memo(['Schema', 'Fields'], () => new Map<string, readonly IndexedField[]>())

  constructor(slug: string, ports: Ports, options: TenantOptions) {
    this.slug = slug
    this.ports = ports
    this.options = options
    this.sql = ports.sql
    this.scheduler = new Scheduler({
      slug,
      clock: ports.clock,
      alarm: ports.alarm,
      turns: ports.turns,
      log: options.log,
    })
    ensureLayout(ports.sql, (done, of) => this.#tellMigration(done, of))
    this.head = readHead(ports.sql)
    this.automation = new AutomationBudget(ports.sql, options, ports.clock.now())
  }

  /** Tells the operator how far the file of an earlier version has been brought, after every tenth of it. */
  #tellMigration(done: number, of: number): void {
    const tenth = Math.floor((done * 10) / of)
    if (tenth === this.#toldMigration) return
    this.#toldMigration = tenth
    const tell = this.options.log ?? (() => {})
    tell('info', `The file of ${this.slug} gets the layout of this version: ${done} of ${of} rows.`, { done, of })
  }

  /** The tenant's namespace, as events and webhooks show it. */
  get context(): string {
    return `${this.options.baseUrl}/~${this.slug}`
  }

  /** The time of the next event by a clock: never before the last event, nor at or before a time given out as synced. */
  nextTime(clock: Clock = this.ports.clock): number {
    return Math.max(timeOf(clock), this.head.at, this.syncedUntil + 1)
  }

  /** Brings the past up to the log. */
  foldPast(): void {
    const { seq } = this.head
    if (this.#folded === seq) return
    indexVersions(this.sql)
    this.#folded = seq
  }

  /** The log may have another end now: what is known of it is asked again. */
  forgetPast(): void {
    this.#folded = null
  }

  /** The types of this tenant. */
  get nouns(): Nouns {
    return this.#nouns()
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
    const known = this.#indexed().get(noun.name)
    if (known) return known
    const fields = numberFields(this.sql, noun)
    // Numbering fields may change what is kept: it is asked again.
    this.#indexed().set(noun.name, fields)
    return fields
  }

  /** The number of an indexed field, or null when the field has none. */
  fieldNumber(type: string, name: string): number | null {
    const noun = this.nouns.get(type)
    return (noun && this.indexed(noun).find((field) => field.name === name)?.number) ?? null
  }

  /** Runs `work` in a transaction, whole or not at all. Listeners receive what it wrote once it is durable. */
  commit<T>(work: (transaction: Transaction) => T, way?: TransactionWay): T {
    const transaction = new Transaction(this)
    let runs = 0
    let result: T
    try {
      result = this.sql.transaction(() => {
        // A repeatable transaction may run again from its start.
        if (runs++ > 0) transaction.reset()
        const done = work(transaction)
        transaction.checkHead()
        return done as never
      }, way)
    } catch (reason) {
      transaction.reset()
      throw reason
    }
    if (transaction.events.length > 0) for (const listener of this.#listeners) listener(transaction.events)
    return result
  }

  /** Reads the state again, after a transaction of another connection. Its events are given to the listeners by `announce`. */
  refresh(): void {
    this.head = readHead(this.sql)
    this.forgetPast()
    this.cache.clear()
  }

  /** Gives events that another connection has committed to the listeners. */
  announce(events: readonly LogRow[]): void {
    for (const listener of this.#listeners) listener(events)
  }

  /** Calls `listener` with the events of every transaction from now on. Returns how to stop it. */
  listen(listener: CommitListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** A transaction in progress: the events that it wrote, and how to go back. */
export class Transaction {
  readonly engine: Engine
  readonly events: LogRow[] = []
  readonly #rollbacks: (() => void)[] = []
  readonly #start: Mark
  /** How many trials are in progress. */
  #trials = 0

  constructor(engine: Engine) {
    this.engine = engine
    this.#start = this.#mark()
  }

  /** Runs `work` whole or not at all, inside this transaction. `guarded` work is certain to be undone. */
  savepoint<T>(work: () => T, way?: 'guarded'): T {
    const mark = this.#mark()
    try {
      return this.engine.sql.transaction(work as () => never, way)
    } catch (reason) {
      this.#goBack(mark)
      throw reason
    }
  }

  /** Runs `work` as if it happened and leaves no trace. Returns its result and the events it would have written. */
  dryRun<T>(work: () => T): { readonly result: T; readonly events: readonly LogRow[] } {
    const before = this.events.length
    let outcome: { result: T; events: LogRow[] } | undefined
    try {
      this.savepoint((): never => {
        outcome = { result: work(), events: this.events.slice(before) }
        throw UNDONE
      }, 'guarded')
    } catch (reason) {
      if (reason !== UNDONE) throw reason
    }
    return outcome!
  }

  /** The same for work in steps. In a transaction that lasts, others have their turn between them. */
  *dryRunInSteps<T>(work: () => Steps<T>): Steps<{ readonly result: T; readonly events: readonly LogRow[] }> {
    const { sql } = this.engine
    if (!sql.savepoint) return this.dryRun(() => toEnd(work()))
    const mark = this.#mark()
    const undo = sql.savepoint()
    this.#trials++
    const result = yield* work()
    const events = this.events.slice(mark.events)
    this.#trials--
    undo()
    this.#goBack(mark)
    return { result, events }
  }

  /** Keeps the first events in memory, so many at most, unless they may be undone. */
  forgetEvents(most: number): void {
    if (this.#trials === 0 && this.events.length > most) this.events.length = most
  }

  /** Calls `back` if the work in progress is undone: for what it changes outside the database. */
  onRollback(back: () => void): void {
    this.#rollbacks.push(back)
  }

  /** Appends an event to the log. */
  append(entry: Entry, random: Random, place: EventPlace): LogRow {
    const { engine } = this
    engine.head = append(engine.sql, engine.ports.seal, random, engine.head, entry, place)
    // The copy comes first: V8 copies an object as a whole only into an empty one.
    const row = { ...entry, seq: engine.head.seq }
    this.events.push(row)
    engine.cache.forget(entry.type)
    if (!COUNTED[entry.type]?.includes(entry.event)) engine.cache.forget(formOf(entry.type))
    // A past changes which events lie before a time.
    if (entry.recordedAt !== null) engine.cache.forget('Log')
    return row
  }

  /** Goes back to the beginning: nothing was written. */
  reset(): void {
    this.#goBack(this.#start)
  }

  /** What was sealed must be stored where it was sealed for. */
  checkHead(): void {
    const { head, slug, sql } = this.engine
    if (head === this.#start.head || lastSeq(sql) === head.seq) return
    throw new Error(`The log of ${slug} does not end with event ${head.seq}: this commit is rolled back.`)
  }

  #mark(): Mark {
    return { head: this.engine.head, events: this.events.length, rollbacks: this.#rollbacks.length }
  }

  #goBack({ head, events, rollbacks }: Mark): void {
    const { engine } = this
    engine.head = head
    engine.forgetPast()
    for (const { type } of this.events.splice(events)) {
      engine.cache.forget(type)
      engine.cache.forget(formOf(type))
    }
    // Numbers given to fields and names in this transaction went with it, and so did its part of the log.
    if (forgetNames(engine.sql)) engine.cache.forget('Schema')
    engine.cache.forget('Fields')
    engine.cache.forget('Log')
    for (const back of this.#rollbacks.splice(rollbacks).toReversed()) back()
  }
}

interface Mark {
  readonly head: Head
  readonly events: number
  readonly rollbacks: number
}

/** On what the types of a tenant depend. */
export const SCHEMA = ['Schema', 'AccessRole']
/** Events that count the runs of a workflow: it does the same as before. */
const COUNTED: { readonly [type: string]: readonly string[] } = { Workflow: ['succeeded', 'failed', 'cancelled'] }
const UNDONE = Symbol('undone')

/** The part of a type on which an answer depends that is about what entities do, and not about their counts. */
export function formOf(type: string): string {
  return `${type} form`
}

const MOST = 2_000

/** A type, and how often it has changed. */
interface Stamp {
  changes: number
}

interface Answer {
  readonly value: unknown
  readonly stamps: readonly Stamp[]
  /** The changes of each type when the value was computed. */
  readonly changes: readonly number[]
}

/** Answers kept until a type they depend on changes. One mechanism for keys, subscriptions, totals and schemas. */
class Cache {
  readonly #stamps = new Map<string, Stamp>()
  readonly #answers = new BoundedMap<string, Answer>(MOST)

  /** The kept answer, or a new one from `compute`; undefined is not kept. */
  get<T>(types: readonly string[], key: string, compute: () => T): T {
    const known = this.peek<T>(key)
    if (known !== undefined) return known
    const answer = this.#answer(types, compute)
    if (answer.value !== undefined) this.#keep(key, answer)
    return answer.value as T
  }

  /** Keeps an answer until a type that it depends on changes. */
  set<T>(types: readonly string[], key: string, value: T): T {
    this.#keep(
      key,
      this.#answer(types, () => value),
    )
    return value
  }

  /** The kept answer, or undefined. */
  peek<T>(key: string): T | undefined {
    const kept = this.#answers.get(key)
    return kept !== undefined && isFresh(kept) ? (kept.value as T) : undefined
  }

  /** A function that keeps its one answer: for what every request needs, so often that finding it would cost. */
  memo<T>(types: readonly string[], compute: () => T): () => T {
    let kept: Answer | undefined
    return () => {
      if (kept === undefined || !isFresh(kept)) kept = this.#answer(types, compute)
      return kept.value as T
    }
  }

  /** Drops the answers that depend on a type: it changed, or a change of it was undone. */
  forget(type: string): void {
    this.#stamp(type).changes++
  }

  /** Drops all answers. */
  clear(): void {
    for (const stamp of this.#stamps.values()) stamp.changes++
  }

  #answer(types: readonly string[], compute: () => unknown): Answer {
    const stamps = types.map((type) => this.#stamp(type))
    // Counted before: what changes while this is computed makes the answer old.
    const changes = stamps.map((stamp) => stamp.changes)
    return { value: compute(), stamps, changes }
  }

  #keep(key: string, answer: Answer): void {
    this.#answers.set(key, answer)
  }

  #stamp(type: string): Stamp {
    const known = this.#stamps.get(type)
    if (known) return known
    const stamp = { changes: 0 }
    this.#stamps.set(type, stamp)
    return stamp
  }
}

function isFresh({ stamps, changes }: Answer): boolean {
  for (let i = 0; i < stamps.length; i++) if (stamps[i]!.changes !== changes[i]) return false
  return true
}

/** What a clock shows. A time that no event can have would stay: those after it would be later. */
export function timeOf(clock: Clock): number {
  const now = clock.now()
  if (isClockTime(now)) return now
  const message =
    'The clock of this machine is wrong: it shows a year before 1970 or after 9999. Set it, then try again.'
  throw new Problem('unavailable', message, { retryAfter: 60 })
}
