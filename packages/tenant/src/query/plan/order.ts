import { type JsonObject, type SortKey, sortValue } from '@tildebase/nouns'
import type { Stored } from '../../store/entities.ts'
import { NULL_KEY, OPEN } from '../../store/layout.ts'
import { sortNumber } from './field-index.ts'
import { type Fragment, fragment, join, plain } from './fragment.ts'
import { metaColumn } from './meta.ts'
import type { Plan } from './plan.ts'
import type { Scope } from './scope.ts'
import { sortColumn } from './sort-column.ts'

/** The order of a page, as SQL. */
export type Order =
  /** By creation alone. */
  | { readonly by: 'creation'; readonly descending: boolean }
  /** Along the index of one field. */
  | { readonly by: 'index'; readonly field: number; readonly descending: boolean; readonly keys: readonly SortKey[] }
  /** By values of each row. */
  | { readonly by: 'values'; readonly descending: boolean; readonly keys: readonly SortKey[] }
  /** By how well the words match. */
  | { readonly by: 'rank'; readonly descending: true }

/** A place in an order, after which a page continues: creation first, then the values of the keys. */
export type CursorPosition = readonly [n: number, ...values: (null | number | string)[]]

/** The order that is asked for. Nothing asked is relevance when there are words, else newest first. */
export function orderOf(plan: Plan, keys: readonly SortKey[]): Order {
  const [first] = keys
  if (!first) return plan.match === null ? { by: 'creation', descending: true } : { by: 'rank', descending: true }
  const { descending } = first
  // Times never decrease along the order of creation, so the time of creation alone is that order.
  if (keys.length === 1 && first.path.field === '$createdAt') return { by: 'creation', descending }
  const field = keys.length === 1 && first.path.into.length === 0 ? sortNumber(plan.scope, first.path.field) : null
  if (field !== null && plan.match === null) return { by: 'index', field, descending, keys }
  return { by: 'values', descending, keys }
}

/** What follows ORDER BY. */
export function orderBy(scope: Scope, order: Order, n: Fragment): Fragment {
  const direction = plain(order.descending ? 'DESC' : 'ASC')
  const last = fragment`${n} ${direction}`
  if (order.by === 'creation') return last
  // In the present `until` is the same in all rows, but only when it is named is this the order of the index itself.
  const until = plain(scope.moment.asOf === null ? `f.until ${direction.sql}, ` : '')
  if (order.by === 'index') return fragment`f.value ${direction}, ${until}f.n ${direction}`
  if (order.by === 'rank') return fragment`r.score, ${last}`
  const keys = order.keys.map((key) => fragment`${keyValue(scope, key)} ${plain(key.descending ? 'DESC' : 'ASC')}`)
  return join([...keys, last], ', ')
}

/** The condition that a row comes after a place. */
export function after(scope: Scope, order: Order, place: CursorPosition, column: Fragment): Fragment {
  const [n, ...values] = place
  const sign = plain(order.descending ? '<' : '>')
  const later = fragment`${column} ${sign} ${n}`
  if (!('keys' in order)) return later
  if (order.by === 'index') {
    const value = values[0] ?? NULL_KEY
    // A row value lets SQLite start in the middle of the index; in the past `until` differs from row to row.
    if (scope.moment.asOf === null) return fragment`(f.value, f.until, f.n) ${sign} (${value}, ${OPEN}, ${n})`
    return fragment`f.value ${sign}= ${value} AND (f.value <> ${value} OR ${later})`
  }
  return order.keys.reduceRight(
    (rest, key, index) => afterKey(keyValue(scope, key), values[index]!, key.descending, rest),
    later,
  )
}

/** The place of a row in an order. */
export function positionOf(order: Order, row: Stored): CursorPosition {
  if (!('keys' in order)) return [row.ordinal]
  const data = JSON.parse(row.data) as JsonObject
  return [
    row.ordinal,
    ...order.keys.map(({ path, descending }) => metaValue(row, path.field) ?? sortValue(data, path, descending)),
  ]
}

/** A row after the key's value, or of the same value and after in the rest of the order. Null comes first ascending. */
function afterKey(value: Fragment, place: null | number | string, descending: boolean, rest: Fragment): Fragment {
  const comparable = comparableTo(value, place)
  const same = fragment`(${comparable} IS ${place} AND ${rest})`
  if (place === null) return descending ? same : fragment`(${value} IS NOT NULL OR ${same})`
  if (!descending) return fragment`(${comparable} > ${place} OR ${same})`
  return fragment`(${comparable} < ${place} OR ${value} IS NULL OR ${same})`
}

/** Whole numbers beyond 2^53 are in JSON as digits that are only nearly the number they were. */
function comparableTo(value: Fragment, place: null | number | string): Fragment {
  if (typeof place !== 'number' || Math.abs(place) < 2 ** 53) return value
  return fragment`CASE typeof(${value}) WHEN 'integer' THEN CAST(${value} AS REAL) ELSE ${value} END`
}

function keyValue({ source, type }: Scope, { path, descending }: SortKey): Fragment {
  if (path.field.startsWith('$')) return metaColumn(source, type, path.field)
  return sortColumn(source.dataFor(path.field), [path.field, ...path.into], descending)
}

function metaValue(row: Stored, field: string): number | string | undefined {
  const { id, type, version, createdAt, updatedAt, createdBy } = row
  const values: { readonly [field: string]: number | string } = {
    $id: id,
    $type: type,
    $version: version,
    $createdAt: createdAt,
    $updatedAt: updatedAt,
    $createdBy: createdBy,
  }
  return Object.hasOwn(values, field) ? values[field] : undefined
}
