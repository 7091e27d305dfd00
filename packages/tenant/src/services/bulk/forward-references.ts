import type { Issue, JsonObject, Noun, Problem } from '@tildebase/nouns'
import { Problem as Failure } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { isId } from '../../ids.ts'
import { exists } from '../../store/entities.ts'
import type { ImportRow } from './import.ts'

/** A row that names an entity of its own type that is not there yet. */
export interface WaitingRow {
  readonly row: ImportRow
  readonly value: JsonObject
}

export interface Refused {
  readonly row: ImportRow
  readonly error: string
}

const MOST_ROUNDS = 8

/** Whether all that is wrong with a row is that it names others of its own type, which may still come. */
export function refersAhead(noun: Noun, problem: Problem): boolean {
  const issues = (problem.about.details ?? []) as readonly Issue[]
  return (
    problem.code === 'validation_error' &&
    issues.length > 0 &&
    issues.every(({ field, message }) => isOwn(noun, field) && message.startsWith('there is no '))
  )
}

/** Writes rows that name each other, all that can be; the others are refused, and with them those that name them. */
export function importReferences(
  tenant: Engine,
  noun: Noun,
  waiting: readonly WaitingRow[],
  write: (value: JsonObject, coming: ReadonlySet<string>) => void,
): Refused[] {
  const refused: Refused[] = []
  let left = waiting
  for (let round = 0; left.length > 0 && round < MOST_ROUNDS; round++) {
    const { kept, lost } = withTheirs(tenant, noun, left)
    refused.push(...lost)
    const failed = new Map<WaitingRow, string>()
    const coming = idsOf(noun, kept)
    const done = whole(tenant, () => {
      for (const one of kept) {
        const error = attempt(() => tenant.transaction(() => write(one.value, coming) as never))
        if (error !== null) failed.set(one, error)
      }
      return failed.size === 0
    })
    for (const [{ row }, error] of failed) refused.push({ row, error })
    left = done ? [] : kept.filter((one) => !failed.has(one))
  }
  for (const { row } of left) refused.push({ row, error: 'The row names others that could not be imported.' })
  return refused
}

/** The rows whose references are there or among them, and those whose are not. */
function withTheirs(tenant: Engine, noun: Noun, rows: readonly WaitingRow[]): { kept: WaitingRow[]; lost: Refused[] } {
  const lost: Refused[] = []
  let kept = [...rows]
  for (;;) {
    const coming = idsOf(noun, kept)
    const missing = (id: string) => !coming.has(id) && !exists(tenant.sql, noun.name, id)
    const next = kept.filter(({ row, value }) => {
      const id = referencesOf(noun, value).find(missing)
      if (id !== undefined) lost.push({ row, error: `There is no ${noun.name} ${id}, in the file or before it.` })
      return id === undefined
    })
    if (next.length === kept.length) return { kept, lost }
    kept = next
  }
}

function idsOf(noun: Noun, rows: readonly WaitingRow[]): Set<string> {
  return new Set(rows.flatMap(({ value: { $id } }) => (isId($id, noun.prefix) ? [$id] : [])))
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

/** Runs `work` in a transaction that stays only if it says so. */
function whole(tenant: Engine, work: () => boolean): boolean {
  try {
    tenant.transaction(() => {
      if (!work()) throw UNDONE
    })
    return true
  } catch (reason) {
    if (reason !== UNDONE) throw reason
    return false
  }
}

const UNDONE = Symbol('undone')

function attempt(work: () => void): string | null {
  try {
    work()
    return null
  } catch (reason) {
    if (!(reason instanceof Failure)) throw reason
    return reason.message
  }
}
