import { type JsonObject, type Noun, Problem } from '@tildebase/nouns'
import type { Stored } from '../../store/entities.ts'

/** Beyond this many, a dry run no longer compares rows with those of earlier slices. */
const MOST_KEPT = 1_000_000

/** What a dry run must remember of the rows before, since they were not written. */
export class DryRunRows {
  readonly ids = new Set<string>()
  readonly #noun: Noun
  /** Fields that are unique, alone or together. */
  readonly #unique: readonly (readonly string[])[]
  readonly #taken = new Set<string>()
  #newest: Stored[] = []

  constructor(noun: Noun) {
    this.#noun = noun
    const single = Object.values(noun.fields).filter((field) => 'index' in field && field.index === 'unique')
    this.#unique = [...single.map(({ name }) => [name]), ...noun.unique]
  }

  /** Refuses a row that has a unique value of a row before, unless it would update that one. */
  refuseRepeated(value: { readonly [field: string]: unknown }, upsert: string | null): void {
    const { $id } = value
    if (typeof $id === 'string' && this.ids.has($id) && upsert !== '$id') {
      throw new Problem('conflict', `An earlier row has the same $id ${$id}.`, { field: '$id' })
    }
    for (const fields of this.#unique) {
      const isKey = fields.length === 1 && fields[0] === upsert
      const key = isKey ? null : keyOf(fields, value)
      if (key === null || !this.#taken.has(key)) continue
      const field = fields.join(', ')
      const rule = fields.length > 1 ? 'They must be unique together.' : 'It must be unique.'
      throw new Problem('conflict', `An earlier row has the same ${field}. ${rule}`, {
        type: this.#noun.name,
        field,
      })
    }
  }

  keep(entity: Stored): void {
    if (this.ids.size >= MOST_KEPT) return
    this.ids.add(entity.id)
    this.#newest.push(entity)
    for (const key of this.#keysOf(entity)) this.#taken.add(key)
  }

  /** Begins a slice; the answer forgets again what is kept from here on. */
  begin(): () => void {
    this.#newest = []
    return () => {
      for (const entity of this.#newest) {
        this.ids.delete(entity.id)
        for (const key of this.#keysOf(entity)) this.#taken.delete(key)
      }
    }
  }

  #keysOf(entity: Stored): string[] {
    const data = JSON.parse(entity.data) as JsonObject
    return this.#unique.flatMap((fields) => keyOf(fields, data) ?? [])
  }
}

/** What is the same for two rows that repeat these fields; null for one that leaves one empty. */
function keyOf(fields: readonly string[], row: { readonly [field: string]: unknown }): string | null {
  const values = fields.map((field) => row[field] ?? null)
  return values.includes(null) ? null : JSON.stringify([fields, values])
}
