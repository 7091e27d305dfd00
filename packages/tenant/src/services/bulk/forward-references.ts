import { type JsonObject, type Noun, Problem, pointsTo } from '@tildebase/nouns'
import { isId } from '../../ids.ts'
import { MissingReferences } from '../../write/references.ts'
import type { Write } from '../../write/write.ts'
import { components } from './components.ts'
import type { ImportRow } from './import-row.ts'

/** A row that refers to an entity of its own type that does not exist yet. */
export interface WaitingRow {
  readonly row: ImportRow
  readonly value: JsonObject
}

export interface RefusedRow {
  readonly row: ImportRow
  readonly error: string
}

/** The most rows that may refer to each other in a circle: they are written in one go. */
const LARGEST_CIRCLE = 1_000

/** Whether all that is wrong with a row is that it refers to others of its own type, which may still come. */
export function refersAhead(noun: Noun, problem: Problem): boolean {
  return problem instanceof MissingReferences && problem.fields.every((field) => isOwn(noun, field))
}

/** Imports rows that refer to others of the file, each after those that it refers to; circles of them together. */
export class ForwardReferences {
  readonly #noun: Noun
  readonly #circles: readonly (readonly WaitingRow[])[]
  readonly lost: readonly RefusedRow[]
  /** The number of finished cycles. A single row counts as one. */
  done = 0

  /** `isThere` tells whether an entity of the type exists. */
  constructor(noun: Noun, waiting: readonly WaitingRow[], isThere: (id: string) => boolean) {
    const { kept, lost } = resolvable(noun, waiting, isThere)
    this.#noun = noun
    this.lost = lost
    const places = new Map(kept.map((one, place) => [idOf(noun, one), place]))
    const edges = (place: number) =>
      referencesOf(noun, kept[place]!.value).flatMap((id) => (isThere(id) ? [] : (places.get(id) ?? [])))
    this.#circles = components(kept.length, edges).map((circle) => circle.map((place) => kept[place]!))
  }

  get isDone(): boolean {
    return this.done === this.#circles.length
  }

  /** Rows of the circles that are not done. */
  get left(): readonly WaitingRow[] {
    return this.#circles.slice(this.done).flat()
  }

  /** Imports the next circle. Returns the rows of it that are refused. */
  next(write: Write, importRow: (value: JsonObject, pendingIds: ReadonlySet<string>) => void): RefusedRow[] {
    const rows = this.#circles[this.done++]!
    if (rows.length > LARGEST_CIRCLE) {
      const error = `The row is part of a cycle of ${rows.length} references: at most ${LARGEST_CIRCLE} are allowed.`
      return rows.map(({ row }) => ({ row, error }))
    }
    const pendingIds = new Set(rows.flatMap((one) => idOf(this.#noun, one) ?? []))
    const failed = new Map<WaitingRow, string>()
    const isWhole = whole(write, () => {
      for (const one of rows) {
        const error = attempt(write, () => importRow(one.value, pendingIds))
        if (error !== null) failed.set(one, error)
      }
      return failed.size === 0
    })
    if (isWhole) return []
    const inVain = 'The row refers to rows that could not be imported.'
    return rows.map((one) => ({ row: one.row, error: failed.get(one) ?? inVain }))
  }
}

/** The rows whose references exist or are among them, and those whose do not. Each reference is looked at once. */
function resolvable(
  noun: Noun,
  rows: readonly WaitingRow[],
  isThere: (id: string) => boolean,
): { kept: WaitingRow[]; lost: RefusedRow[] } {
  const pending = new Map(rows.flatMap((one) => (idOf(noun, one) === null ? [] : [[idOf(noun, one)!, one] as const])))
  const dependents = new Map<string, WaitingRow[]>()
  const lost = new Map<WaitingRow, string>()
  const queue: WaitingRow[] = []
  const lose = (one: WaitingRow, id: string) => {
    if (lost.has(one)) return
    lost.set(one, `There is no ${noun.name} ${id}, in the file or stored.`)
    queue.push(one)
  }
  for (const one of rows) {
    for (const id of referencesOf(noun, one.value)) {
      if (pending.has(id)) {
        const known = dependents.get(id)
        if (known) known.push(one)
        else dependents.set(id, [one])
      } else if (!isThere(id)) lose(one, id)
    }
  }
  for (let one = queue.pop(); one !== undefined; one = queue.pop()) {
    const id = idOf(noun, one)
    if (id === null || pending.get(id) !== one || isThere(id)) continue
    for (const dependent of dependents.get(id) ?? []) lose(dependent, id)
  }
  return {
    kept: rows.filter((one) => !lost.has(one)),
    lost: [...lost].map(([{ row }, error]) => ({ row, error })),
  }
}

function idOf(noun: Noun, { value: { $id } }: WaitingRow): string | null {
  return isId($id, noun.prefix) ? $id : null
}

function referencesOf(noun: Noun, value: JsonObject): string[] {
  return Object.keys(value)
    .filter((field) => isOwn(noun, field))
    .flatMap((field) => value[field] ?? [])
    .filter((id) => typeof id === 'string')
}

function isOwn(noun: Noun, name: string): boolean {
  const field = Object.hasOwn(noun.fields, name) ? noun.fields[name] : undefined
  return field?.kind === 'forward' && pointsTo(field, noun.name)
}

/** Runs `work` in a transaction that stays only if it returns true. */
function whole(write: Write, work: () => boolean): boolean {
  try {
    write.attempt(() => {
      if (!work()) throw UNDONE
    })
    return true
  } catch (reason) {
    if (reason !== UNDONE) throw reason
    return false
  }
}

const UNDONE = Symbol('undone')

function attempt(write: Write, work: () => void): string | null {
  try {
    write.attempt(work)
    return null
  } catch (reason) {
    if (!(reason instanceof Problem)) throw reason
    return reason.message
  }
}
