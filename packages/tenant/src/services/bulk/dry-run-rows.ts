import { type JsonObject, type Noun, Problem } from '@tildebase/nouns'
import type { Stored } from '../../store/entities.ts'

/** Beyond this many, a dry run no longer compares rows with those of earlier slices. */
const MOST_KEPT = 1_000_000

/** What a dry run must remember of the rows before, since they were not written. */
export class DryRunRows {
  readonly ids = new Set<string>()
  readonly #noun: Noun
  readonly #unique: readonly string[]
  readonly #taken = new Set<string>()
  #newest: Stored[] = []

  constructor(noun: Noun) {
    this.#noun = noun
    this.#unique = Object.values(noun.fields)
      .filter((field) => 'index' in field && field.index === 'unique')
      .map(({ name }) => name)
  }

  /** Refuses a row that has a unique value of a row before, unless it would update that one. */
  refuseRepeated(value: { readonly [field: string]: unknown }, upsert: string | null): void {
    const { $id } = value
    if (typeof $id === 'string' && this.ids.has($id) && upsert !== '$id') {
      throw new Problem('conflict', `An earlier row has the $id ${$id} already.`, { field: '$id' })
    }
    for (const field of this.#unique) {
      if (field === upsert || !this.#taken.has(keyOf(field, value[field]))) continue
      throw new Problem('conflict', `An earlier row has this ${field} already. It must be unique.`, {
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
    return this.#unique.filter((field) => data[field] !== undefined).map((field) => keyOf(field, data[field]))
  }
}

function keyOf(field: string, value: unknown): string {
  return JSON.stringify([field, value])
}
