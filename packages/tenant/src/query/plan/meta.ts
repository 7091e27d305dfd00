import { type Json, type Leaf, parseInstant, SOURCE } from '@tildebase/nouns'
import { nameIn } from '../../store/names.ts'
import { type Fragment, fragment, listOf, plain } from './fragment.ts'
import type { Scope } from './scope.ts'
import type { Source } from './source.ts'

/** The column behind a meta-field. */
export function metaColumn(source: Source, type: string, field: string): Fragment {
  switch (field) {
    case '$id':
      return source.id
    case '$version':
      return source.version
    case '$createdAt':
      return source.createdAt
    case '$updatedAt':
      return source.updatedAt
    case '$createdBy':
      return plain(nameIn(source.creator.sql))
    case SOURCE.name:
      return fragment`json_extract(${source.data}, '$."$source"')`
    default:
      return fragment`${type}`
  }
}

/** A leaf about a meta-field as SQL. These meta-fields are never null and never lists. */
export function compileMeta({ source, type }: Scope, { op, path, value }: Leaf): Fragment | null {
  if (op === 'regex') return null
  if (op === 'exists') return plain('1')
  const column = metaColumn(source, type, path.field)
  const operands = (op === 'in' ? (value as readonly Json[]) : [value]).flatMap((one) => inColumn(path.field, one))
  if ((op === 'in' || op === 'eq') && path.field === '$id' && source.withIds) {
    return fragment`(${source.withIds(operands as string[])})`
  }
  if (op === 'in') return fragment`${column} IN ${listOf(operands)}`
  const [operand] = operands
  if (operand === undefined) return plain('0')
  return fragment`${column} ${plain({ eq: '=', gt: '>', gte: '>=', lt: '<', lte: '<=' }[op])} ${operand}`
}

/** An operand as it is in the column: at most one; none when it is of another type. */
function inColumn(field: string, operand: Json): (string | number)[] {
  if (field === '$version') return typeof operand === 'number' ? [operand] : []
  if (typeof operand !== 'string') return []
  if (field !== '$createdAt' && field !== '$updatedAt') return [operand]
  const instant = parseInstant(operand)
  return instant === null ? [] : [instant]
}
