import type { Engine } from '../../engine/engine.ts'
import { type Migration, migrationsOf, nameNow, since } from '../../engine/migrations.ts'
import { eventsSince } from '../../store/changesets.ts'

/** What others changed about an entity after a seq: fields, or all of it. */
export interface LaterChanges {
  readonly fields: ReadonlySet<string>
  /** True when it was deleted, though it may have been restored since. */
  readonly deleted: boolean
}

const NONE: LaterChanges = { fields: new Set(), deleted: false }

interface Change {
  readonly seq: number
  readonly fields: readonly string[]
  readonly deleted: boolean
}

/** Whether an event of a migration belongs to a rename: the next migration that ends. */
function isRename(migrations: readonly Migration[], seq: number): boolean {
  const [next] = migrations.filter((one) => one.seq >= seq)
  return next !== undefined && migrations.every((one) => one.seq !== next.seq || 'from' in one)
}

/** What happened to entities between the base of a changeset and the moment that its replay begins. */
export class ChangeLog {
  readonly #engine: Engine
  readonly #base: number
  readonly #until: number
  readonly #changes = new Map<string, Change[]>()

  constructor(engine: Engine, base: number) {
    this.#engine = engine
    this.#base = base
    this.#until = engine.head.seq
  }

  /** Reads what happened to these entities, in one question to the database. */
  read(ids: Iterable<string>): void {
    const unknown = [...new Set(ids)].filter((id) => !this.#changes.has(id))
    if (unknown.length === 0) return
    for (const id of unknown) this.#changes.set(id, [])
    const later = eventsSince(this.#engine.sql, unknown, this.#base, this.#until)
    for (const { entity, type, seq, verb, previous } of later) {
      const all = migrationsOf(this.#engine, type)
      // A rename leaves the values as they are.
      if (verb === 'migrate' && isRename(all, seq)) continue
      const migrations = since(all, seq)
      const fields = Object.keys(JSON.parse(previous ?? '{}')).map((field) => nameNow(migrations, field))
      this.#changes.get(entity)!.push({ seq, fields, deleted: verb === 'delete' })
    }
  }

  /** What happened to one entity after a seq. */
  since(id: string, base: number): LaterChanges {
    this.read([id])
    const changes = this.#changes.get(id)!.filter(({ seq }) => seq > base)
    if (changes.length === 0) return NONE
    return {
      fields: new Set(changes.flatMap(({ fields }) => fields)),
      deleted: changes.some(({ deleted }) => deleted),
    }
  }
}
