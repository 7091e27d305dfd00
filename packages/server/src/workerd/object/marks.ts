import type { SyncKeyValues } from 'cloudflare:workers'

/** A restore that has not ended. */
interface RestoreMark {
  /** How many events the log has in all, if that was said. */
  readonly of: number | null
  /** Whether a client sends it in slices. */
  readonly inSlices?: boolean
  /** The backup that it reads; absent if a client sends the slices. */
  readonly source?: BackupSource
  /** Why it cannot continue. */
  readonly failed?: string
}

/** A backup in the bucket, and where in it a restore is. */
export interface BackupSource {
  readonly prefix: string
  /** The first event of the segment that is next. */
  readonly first: number
  /** No event after this time. */
  readonly until: number | null
  /** Whether keys and webhooks continue working: the new tenant has the name of the old one. */
  readonly secrets: boolean
}

/** How far the backup of a tenant has come. */
export interface BackupMark {
  /** Where its files are. */
  readonly prefix: string
  /** The first event of the segment that grows, and the hash of the event before it. */
  readonly first: number
  readonly before: string
  /** The last event that it has. */
  readonly seq: number
  /** What the file of secrets holds. */
  readonly secrets: string
}

interface Marks {
  readonly restoring: RestoreMark
  readonly backup: BackupMark
  /** The directory knows the tenant. */
  readonly listed: true
  /** What the directory says about its space. */
  readonly warning: string
  /** The operator created the tenant, which may have no event yet. */
  readonly created: true
}

/** What an object keeps in addition to its tenant: facts of this host, which no log tells. */
export class ObjectMarks {
  readonly #kv: SyncKeyValues
  /** Each is read once: the platform counts reads, and requests look at them. */
  readonly #known = new Map<string, unknown>()

  constructor(kv: SyncKeyValues) {
    this.#kv = kv
  }

  get<K extends keyof Marks>(name: K): Marks[K] | undefined {
    if (!this.#known.has(name)) this.#known.set(name, this.#kv.get(name))
    return this.#known.get(name) as Marks[K] | undefined
  }

  set<K extends keyof Marks>(name: K, value: Marks[K]): void {
    this.#kv.put(name, value)
    this.#known.set(name, value)
  }

  clear(name: keyof Marks): void {
    this.#kv.delete(name)
    this.#known.set(name, undefined)
  }

  /** All of them were deleted. */
  forget(): void {
    this.#known.clear()
  }
}
