import { camelPrefix, type Json, type JsonObject } from '@tildebase/nouns'
import type { Clock, SyncAnswer, SyncChange } from '../types/sync-types.ts'

/** An entity as the local database has it: what the server said, and what was done here since. */
export interface LocalEntity {
  readonly id: string
  readonly type: string
  readonly data: JsonObject
}

/** The state of a local database, as plain JSON. */
export interface LocalState {
  readonly replica: string
  readonly lastSyncAt: string | null
  /** How many changes were made here, and when the last. */
  readonly counter: number
  readonly lastAt: number
  readonly entities: { readonly [id: string]: Known }
  /** Changes without a confirmation yet, in their order. */
  readonly pending: readonly SyncChange[]
}

/** An entity as last received from the server. */
interface Known {
  readonly type: string
  readonly data: JsonObject
  readonly clock: Clock
}

/** Where a local database is stored: a file, IndexedDB, localStorage. */
export interface Persistence {
  load(): Promise<LocalState | null> | LocalState | null
  save(state: LocalState): Promise<void> | void
}

export interface LocalOptions {
  /** The id of this replica: unique, and the same in all runs. */
  readonly replica?: string
  readonly persistence?: Persistence
  /** Called when changes could not be saved; default `console.error`. */
  readonly onSaveError?: (reason: unknown) => void
  readonly now?: () => number
}

/** Opens a local database, as it was left. */
export async function openLocal(options: LocalOptions = {}): Promise<LocalStore> {
  const kept = (await options.persistence?.load()) ?? null
  return new LocalStore(kept ?? emptyState(options.replica ?? `replica-${token()}`), options)
}

/** A local database of entities that can be read and changed offline, and synchronised. */
export class LocalStore {
  readonly replica: string
  readonly #options: LocalOptions
  readonly #known: Map<string, Known>
  #pending: SyncChange[]
  #lastSyncAt: string | null
  #counter: number
  #lastAt: number
  readonly #listeners = new Set<() => void>()
  #isUnsaved = false
  #saving: Promise<void> = Promise.resolve()

  constructor(state: LocalState, options: LocalOptions = {}) {
    this.replica = state.replica
    this.#options = options
    this.#known = new Map(Object.entries(state.entities))
    this.#pending = [...state.pending]
    this.#lastSyncAt = state.lastSyncAt
    this.#counter = state.counter
    this.#lastAt = state.lastAt
  }

  get lastSyncAt(): string | null {
    return this.#lastSyncAt
  }

  /** The changes that still have to be sent. */
  get pending(): readonly SyncChange[] {
    return this.#pending
  }

  get(id: string): LocalEntity | null {
    return this.#pending.filter((change) => change.id === id).reduce(applied, entityOf(id, this.#known.get(id)))
  }

  /** The entities of a type, or of all. */
  all(type?: string): LocalEntity[] {
    const entities = new Map<string, LocalEntity | null>()
    for (const [id, known] of this.#known) entities.set(id, entityOf(id, known))
    for (const change of this.#pending) entities.set(change.id, applied(entities.get(change.id) ?? null, change))
    return [...entities.values()].filter(
      (entity) => entity !== null && (type === undefined || entity.type === type),
    ) as LocalEntity[]
  }

  /** Makes an entity and returns its id. */
  create(type: string, data: JsonObject, id = `${camelPrefix(type)}_${token()}`): string {
    this.#change(type, id, 'create', data)
    return id
  }

  /** Changes fields; null clears one. */
  update(id: string, data: JsonObject): void {
    const entity = this.get(id)
    if (!entity) throw new Error(`There is no ${id} here.`)
    this.#change(entity.type, id, 'update', data)
  }

  delete(id: string): void {
    const entity = this.get(id)
    if (entity) this.#change(entity.type, id, 'delete', {})
  }

  /** Applies an answer: sent changes are kept unless they were rejected, and server changes override them. */
  accept(sent: readonly SyncChange[], answer: SyncAnswer): void {
    const rejected = new Set(answer.rejected.map(({ index }) => index))
    const taken = sent.filter((_, index) => !rejected.has(index))
    for (const change of [...taken, ...answer.serverChanges]) this.#learn(change)
    const done = new Set(sent)
    this.#pending = this.#pending.filter((change) => !done.has(change))
    this.#lastSyncAt = answer.syncedAt
    if (taken.length < sent.length || answer.serverChanges.length > 0) this.#tell()
  }

  /** Calls a function after every change, of here or of the server. Returns how to stop that. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Saves the database to its persistence. Changes of here are saved automatically. */
  async save(): Promise<void> {
    this.#isUnsaved = false
    const last = this.#saving
    // One after the other, so that an older state never replaces a newer one.
    this.#saving = (async () => {
      await last.catch(() => {})
      await this.#options.persistence?.save(this.state)
    })()
    await this.#saving
  }

  get state(): LocalState {
    return {
      replica: this.replica,
      lastSyncAt: this.#lastSyncAt,
      counter: this.#counter,
      lastAt: this.#lastAt,
      entities: Object.fromEntries(this.#known),
      pending: [...this.#pending],
    }
  }

  #change(type: string, id: string, operation: SyncChange['operation'], data: JsonObject): void {
    // Two changes of one replica never share a time, so that the later one wins everywhere.
    this.#lastAt = Math.max((this.#options.now ?? Date.now)(), this.#lastAt + 1)
    const seen = [this.#known.get(id)?.clock, ...this.#pending.filter((one) => one.id === id).map(({ clock }) => clock)]
    const clock = { ...joined(seen), [this.replica]: ++this.#counter }
    this.#pending.push({ type, id, operation, data, timestamp: new Date(this.#lastAt).toISOString(), clock })
    this.#saveSoon()
    this.#tell()
  }

  /** Saves once for all changes of one turn. */
  #saveSoon(): void {
    if (this.#isUnsaved || !this.#options.persistence) return
    this.#isUnsaved = true
    queueMicrotask(() => {
      if (this.#isUnsaved) this.save().catch(this.#options.onSaveError ?? console.error)
    })
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }

  #learn(change: SyncChange): void {
    const known = this.#known.get(change.id)
    const entity = applied(change.operation === 'create' ? null : entityOf(change.id, known), change)
    if (entity === null) this.#known.delete(change.id)
    else {
      const { type, data } = entity
      this.#known.set(change.id, { type, data, clock: joined([known?.clock, change.clock]) })
    }
  }
}

/** An entity after a change. */
function applied(entity: LocalEntity | null, { id, type, operation, data }: SyncChange): LocalEntity | null {
  if (operation === 'delete') return null
  const next: Record<string, Json> = { ...entity?.data }
  for (const [field, value] of Object.entries(data)) {
    if (value === null) delete next[field]
    else next[field] = value
  }
  return { id, type, data: next }
}

function entityOf(id: string, known: Known | undefined): LocalEntity | null {
  return known ? { id, type: known.type, data: known.data } : null
}

function joined(clocks: readonly (Clock | undefined)[]): Clock {
  const all: Record<string, number> = {}
  for (const clock of clocks) {
    for (const [replica, count] of Object.entries(clock ?? {})) all[replica] = Math.max(all[replica] ?? 0, count)
  }
  return all
}

function emptyState(replica: string): LocalState {
  return { replica, lastSyncAt: null, counter: 0, lastAt: 0, entities: {}, pending: [] }
}

/** Twenty-two random letters and digits. */
function token(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(22))
  return Array.from(bytes, (byte) => (byte % 36).toString(36)).join('')
}
