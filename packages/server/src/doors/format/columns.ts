import { type Field, isoOf, type Json, type JsonObject, type Noun, Problem } from '@tildebase/nouns'
import type { Stored } from '@tildebase/tenant'

/** The meta-fields that are in tables, in their order. */
export const META_COLUMNS = ['$id', '$type', '$version', '$createdAt', '$updatedAt', '$createdBy'] as const
export type MetaColumn = (typeof META_COLUMNS)[number]

export function isMeta(name: string): name is MetaColumn {
  return (META_COLUMNS as readonly string[]).includes(name)
}

/** The value of a meta-field. */
export function metaValue(entity: Stored, name: MetaColumn): Json {
  switch (name) {
    case '$id':
      return entity.id
    case '$type':
      return entity.type
    case '$version':
      return entity.version
    case '$createdAt':
      return isoOf(entity.createdAt)
    case '$updatedAt':
      return isoOf(entity.updatedAt)
    case '$createdBy':
      return entity.createdBy
  }
}

/** The declared fields that are stored and shown: no inverse relations, no secrets. */
export function shownFields(noun: Noun): readonly Exclude<Field, { kind: 'back' }>[] {
  return Object.values(noun.fields).filter((field) => field.kind !== 'back' && field.kind !== 'secret') as never
}

/** The names that are never shown. */
export function secretNames(noun: Noun): ReadonlySet<string> {
  return new Set(
    Object.values(noun.fields)
      .filter(({ kind }) => kind === 'secret')
      .map(({ name }) => name),
  )
}

/** As many columns as spreadsheets show: more of them would be held in memory, and be in every line. */
const MOST_OTHERS = 16_384

function tooManyColumns({ name }: Noun): Problem {
  const message = `The ${name} entities have more than ${MOST_OTHERS} undeclared fields. Name the fields to export, or use json, ndjson or parquet.`
  return new Problem('over_budget', message, { type: name, limit: 'rows' })
}

/** The names of undeclared fields that occur, in the order of their letters. */
export function* otherNames(
  noun: Noun,
  pages: Iterable<readonly Stored[]>,
): Generator<null, readonly string[], undefined> {
  const names = new Set<string>()
  for (const page of pages) {
    for (const { data } of page) {
      for (const name of Object.keys(JSON.parse(data) as JsonObject)) {
        if (!Object.hasOwn(noun.fields, name)) names.add(name)
      }
      if (names.size > MOST_OTHERS) throw tooManyColumns(noun)
    }
    yield null
  }
  return [...names].sort()
}
