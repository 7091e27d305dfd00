import { type Filter, isoOf, type JsonObject } from '@tildebase/nouns'
import type { Stored } from '../../store/entities.ts'
import type { LogRow } from '../../store/log/log.ts'
import { stateOf } from '../../view/event.ts'

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

function fieldsOf(row: Row): JsonObject {
  return row.fields ?? (JSON.parse(row.data) as JsonObject)
}

/** A row whose fields may have been read before. */
interface Row extends Stored {
  readonly fields?: JsonObject
}

const STATES = new WeakMap<LogRow, Row>()

/** The state in an event that many filters look at: its fields are read once, and only if one of them asks. */
export function stateOnce(event: LogRow, data: string): Stored {
  const known = STATES.get(event)
  if (known?.data === data) return known
  let fields: JsonObject | undefined
  const state: Row = {
    ...stateOf(event, data),
    get fields() {
      fields ??= JSON.parse(data) as JsonObject
      return fields
    },
  }
  STATES.set(event, state)
  return state
}

/** Whether a filter asks for fields of the type itself and nothing else. */
export function asksFields(filter: Filter): boolean {
  if ('path' in filter) return filter.path.hops.length === 0 && !filter.path.field.startsWith('$')
  if (filter.op === 'text') return false
  return filter.op === 'not' ? asksFields(filter.of) : filter.of.every(asksFields)
}
