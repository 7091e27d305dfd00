import { type Filter, isoOf, type JsonObject } from '@tildebase/nouns'
import type { Stored } from '../../store/entities.ts'

/** What filters look at of an entity. Most ask for fields alone, and the meta-fields cost as much as the fields. */
export function viewFor(filters: readonly Filter[]): (row: Stored) => JsonObject {
  return filters.every(asksFields) ? fieldsOf : flat
}

/** An entity as memory looks at it: fields and meta-fields side by side. */
export function flat(row: Stored): JsonObject {
  return {
    ...fieldsOf(row),
    $id: row.id,
    $type: row.type,
    $version: row.version,
    $createdAt: isoOf(row.createdAt),
    $updatedAt: isoOf(row.updatedAt),
    $createdBy: row.createdBy,
  }
}

function fieldsOf(row: Stored): JsonObject {
  return JSON.parse(row.data) as JsonObject
}

/** Whether a filter asks for fields of the type itself and nothing else. */
export function asksFields(filter: Filter): boolean {
  if ('path' in filter) return filter.path.hops.length === 0 && !filter.path.field.startsWith('$')
  if (filter.op === 'text') return false
  return filter.op === 'not' ? asksFields(filter.of) : filter.of.every(asksFields)
}
