import { type Filter, isoOf, type JsonObject } from '@tildebase/nouns'
import type { Stored } from '../store/entities.ts'
import type { Scope } from './scope.ts'
import { fieldReader } from './stored-fields.ts'

/** More fields than these are not read one by one. */
const MOST_READ = 4

/** What filters look at of an entity. Most ask for few fields, and the meta-fields cost as much as the fields. */
export function viewFor({ source }: Scope, filters: readonly Filter[]): (row: Stored) => JsonObject {
  if (!filters.every(asksFields)) return flat
  const names = [...new Set(filters.flatMap(fieldNames))]
  if (!source.isStored || names.length > MOST_READ) return fieldsOf
  const read = fieldReader(names)
  return ({ data }) => read(data)
}

/** The names of the fields in a filter that asks for fields alone. */
function fieldNames(filter: Filter): string[] {
  if ('path' in filter) return [filter.path.field]
  if (filter.op === 'text') return []
  return filter.op === 'not' ? fieldNames(filter.of) : filter.of.flatMap(fieldNames)
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
