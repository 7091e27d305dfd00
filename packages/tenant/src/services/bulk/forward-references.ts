import { type JsonObject, type Noun, Problem } from '@tildebase/nouns'
import { isId } from '../../ids.ts'
import { exists } from '../../store/entities.ts'
import { MissingReferences } from '../../write/references.ts'
import type { Write } from '../../write/write.ts'
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

const MOST_ROUNDS = 8

/** Whether all that is wrong with a row is that it refers to others of its own type, which may still come. */
export function refersAhead(noun: Noun, problem: Problem): boolean {
  return problem instanceof MissingReferences && problem.fields.every((field) => isOwn(noun, field))
}

/** Imports rows that refer to each other, all that can be; the others are refused, and so are those that need them. */
export function importReferences(
  write: Write,
  noun: Noun,
  waiting: readonly WaitingRow[],
  importRow: (value: JsonObject, pendingIds: ReadonlySet<string>) => void,
): RefusedRow[] {
  const refused: RefusedRow[] = []
  let left = waiting
  for (let round = 0; left.length > 0 && round < MOST_ROUNDS; round++) {
    const { kept, lost } = resolvable(write, noun, left)
    refused.push(...lost)
    const failed = new Map<WaitingRow, string>()
    const pendingIds = new Set(kept.flatMap((one) => idOf(noun, one) ?? []))
    const isDone = whole(write, () => {
      for (const one of kept) {
        const error = attempt(write, () => importRow(one.value, pendingIds))
        if (error !== null) failed.set(one, error)
      }
      return failed.size === 0
    })
    for (const [{ row }, error] of failed) refused.push({ row, error })
    left = isDone ? [] : kept.filter((one) => !failed.has(one))
  }
  for (const { row } of left) refused.push({ row, error: 'The row refers to others that could not be imported.' })
  return refused
}

/** The rows whose references exist or are among them, and those whose do not. Each reference is looked at once. */
function resolvable(
  { sql }: Write,
  noun: Noun,
  rows: readonly WaitingRow[],
): { kept: WaitingRow[]; lost: RefusedRow[] } {
  const pending = new Map(rows.flatMap((one) => (idOf(noun, one) === null ? [] : [[idOf(noun, one)!, one] as const])))
  const dependents = new Map<string, WaitingRow[]>()
  const lost = new Map<WaitingRow, string>()
  const queue: WaitingRow[] = []
  const lose = (one: WaitingRow, id: string) => {
    if (lost.has(one)) return
    lost.set(one, `There is no ${noun.name} ${id}, in the file or before it.`)
    queue.push(one)
  }
  for (const one of rows) {
    for (const id of referencesOf(noun, one.value)) {
      if (pending.has(id)) {
        const known = dependents.get(id)
        if (known) known.push(one)
        else dependents.set(id, [one])
      } else if (!exists(sql, noun.name, id)) lose(one, id)
    }
  }
  for (let one = queue.pop(); one !== undefined; one = queue.pop()) {
    const id = idOf(noun, one)
    if (id === null || pending.get(id) !== one || exists(sql, noun.name, id)) continue
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
  return field?.kind === 'forward' && field.target === noun.name
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
