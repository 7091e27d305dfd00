import { type Field, isoOf, type Json, type JsonObject, type Noun } from '@tildebase/nouns'
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
    }
    yield null
  }
  return [...names].sort()
}
