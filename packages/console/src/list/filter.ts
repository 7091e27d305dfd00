import type { Field, Json } from '@tildebase/nouns'
import type { Noun } from '../values/noun.ts'

/** One line of the filter builder. */
export interface Condition {
  readonly field: string
  readonly operator: string
  readonly value: string
}

/** The operators people choose from, by what they are called. */
const OPERATORS: readonly {
  readonly name: string
  readonly label: string
  readonly kinds?: readonly string[]
}[] = [
  { name: '$eq', label: 'is' },
  { name: '$ne', label: 'is not' },
  { name: '$gt', label: 'is more than', kinds: ['number', 'date', 'datetime'] },
  { name: '$gte', label: 'is at least', kinds: ['number', 'date', 'datetime'] },
  { name: '$lt', label: 'is less than', kinds: ['number', 'date', 'datetime'] },
  { name: '$lte', label: 'is at most', kinds: ['number', 'date', 'datetime'] },
  { name: '$in', label: 'is one of', kinds: ['string', 'number', 'enum', 'forward'] },
  { name: '$nin', label: 'is none of', kinds: ['string', 'number', 'enum', 'forward'] },
  { name: '$regex', label: 'matches', kinds: ['string', 'enum'] },
  { name: '$exists', label: 'is not empty' },
  { name: 'missing', label: 'is empty' },
]

export function operatorsFor(kind: Field['kind']) {
  return OPERATORS.filter(({ kinds }) => !kinds || kinds.includes(kind))
}

/** A condition on another field: the operator stays when it fits the new field's kind. */
export function refield(condition: Condition, field: string, kind: Field['kind']): Condition {
  const fits = operatorsFor(kind).some(({ name }) => name === condition.operator)
  return { field, operator: fits ? condition.operator : '$eq', value: '' }
}

/** The query that the conditions make, in the query language. */
export function queryOf(conditions: readonly Condition[], noun: Noun, text = ''): { [field: string]: Json } {
  const parts = conditions.filter(isWhole).map((condition) => ({ [condition.field]: operand(condition, noun) }))
  if (text.trim() !== '') parts.push({ $text: text.trim() })
  const names = parts.flatMap(Object.keys)
  // Two conditions on one field cannot share an object.
  return new Set(names).size === names.length ? Object.assign({}, ...parts) : { $and: parts }
}

/** The conditions of a query, when it is one that the builder can show; null otherwise. */
export function conditionsOf(query: Json): Condition[] | null {
  if (!isObject(query)) return null
  const parts: readonly Json[] = Array.isArray(query.$and)
    ? query.$and
    : Object.entries(query).map(([name, value]) => ({ [name]: value }))
  const conditions: (Condition | null)[] = parts.flatMap((part) =>
    Object.entries(part as { [name: string]: Json })
      .filter(([name]) => name !== '$text')
      .map(([field, value]) => conditionOf(field, value)),
  )
  return conditions.includes(null) ? null : (conditions as Condition[])
}

function conditionOf(field: string, value: Json): Condition | null {
  if (field.startsWith('$') && !/^\$(id|version|createdAt|updatedAt|createdBy)$/.test(field)) return null
  if (value === null || typeof value !== 'object') return { field, operator: '$eq', value: String(value ?? '') }
  if (Array.isArray(value)) return null
  const [pair, ...more] = Object.entries(value)
  if (!pair || more.length > 0) return null
  const [operator, operand] = pair
  if (operator === '$exists') return { field, operator: operand ? '$exists' : 'missing', value: '' }
  if (!OPERATORS.some(({ name }) => name === operator)) return null
  return { field, operator, value: Array.isArray(operand) ? operand.join(', ') : String(operand) }
}

function isWhole({ field, operator, value }: Condition): boolean {
  return field !== '' && (operator === '$exists' || operator === 'missing' || value !== '')
}

function operand({ field, operator, value }: Condition, noun: Noun): Json {
  if (operator === '$exists') return { $exists: true }
  if (operator === 'missing') return { $exists: false }
  const kind = noun.fields[field]?.kind ?? (field === '$version' ? 'number' : 'string')
  if (operator === '$in' || operator === '$nin') {
    return { [operator]: value.split(',').map((word) => typed(word.trim(), kind)) }
  }
  return operator === '$eq' ? typed(value, kind) : { [operator]: typed(value, kind) }
}

function typed(text: string, kind: Field['kind']): Json {
  if (kind === 'number' && text !== '' && !Number.isNaN(Number(text))) return Number(text)
  if (kind === 'boolean') return text === 'true' || text === 'yes'
  return text
}

function isObject(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
