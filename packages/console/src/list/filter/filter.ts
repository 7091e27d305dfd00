import type { Field, Json } from '@tildebase/nouns'
import { t } from '../../texts/text.ts'
import type { Noun } from '../../values/noun.ts'
import { guessNumbers, readNumber } from '../../values/number-format.ts'
import { dayName, dayNamed, dayOf, moved } from './periods.ts'
import { isQuery, kindOf, type Query } from './resolve.ts'

/** One line of the filter builder. */
export interface Condition {
  readonly field: string
  readonly operator: string
  readonly value: string
}

/** Lines of which all hold, or any of them. */
export interface Group {
  readonly mode: 'all' | 'any'
  readonly items: readonly (Condition | Group)[]
}

const TIMES = ['date', 'datetime']

/** The operators people choose from, by what they are called. */
const OPERATORS: readonly {
  readonly name: string
  readonly label: string
  readonly kinds?: readonly string[]
  /** Other kinds have it. */
  readonly not?: readonly string[]
}[] = [
  { name: 'contains', label: t('contains'), kinds: ['string'] },
  { name: 'is', label: t('is'), not: TIMES },
  { name: 'isNot', label: t('is not'), not: TIMES },
  { name: 'lacks', label: t('does not contain'), kinds: ['string'] },
  { name: 'starts', label: t('starts with'), kinds: ['string'] },
  { name: 'ends', label: t('ends with'), kinds: ['string'] },
  { name: 'during', label: t('is in'), kinds: TIMES },
  { name: 'on', label: t('is on'), kinds: TIMES },
  { name: 'before', label: t('is before'), kinds: TIMES },
  { name: 'from', label: t('is on or after'), kinds: TIMES },
  { name: '$gt', label: t('is more than'), kinds: ['number'] },
  { name: '$gte', label: t('is at least'), kinds: ['number'] },
  { name: '$lt', label: t('is less than'), kinds: ['number'] },
  { name: '$lte', label: t('is at most'), kinds: ['number'] },
  { name: '$in', label: t('is any of'), kinds: ['string', 'number', 'enum', 'forward'] },
  { name: '$nin', label: t('is none of'), kinds: ['string', 'number', 'enum', 'forward'] },
  { name: 'there', label: t('is not empty') },
  { name: 'missing', label: t('is empty') },
]

export function operatorsFor(kind: Field['kind']) {
  return OPERATORS.filter(({ kinds, not }) => (!kinds || kinds.includes(kind)) && !not?.includes(kind))
}

/** The operator that a condition on a field begins with. */
export function firstOperator(kind: Field['kind']): string {
  return operatorsFor(kind)[0]!.name
}

export function takesValue({ operator }: Condition): boolean {
  return operator !== 'there' && operator !== 'missing'
}

/** A condition on another field: the operator stays when it fits the new field's kind. */
export function refield(condition: Condition, field: string, kind: Field['kind']): Condition {
  const fits = operatorsFor(kind).some(({ name }) => name === condition.operator)
  return { field, operator: fits ? condition.operator : firstOperator(kind), value: '' }
}

/** The query that the conditions make. Periods keep their names in it: see `resolved`. */
export function queryOf(group: Group, noun: Noun): Query {
  const parts = group.items.flatMap((item): Query[] => {
    if (isGroup(item)) return Object.keys(queryOf(item, noun)).length === 0 ? [] : [queryOf(item, noun)]
    const operand = operandOf(item, kindOf(noun, item.field))
    return operand === undefined ? [] : [{ [item.field]: operand }]
  })
  if (group.mode === 'any') return parts.length > 1 ? { $or: parts } : (parts[0] ?? {})
  const names = parts.flatMap(Object.keys)
  // Two conditions on one field cannot share an object.
  return new Set(names).size === names.length ? Object.assign({}, ...parts) : { $and: parts }
}

/** The conditions of a query, when it is one that the builder can show; null otherwise. */
export function groupOf(query: Json, noun: Noun): Group | null {
  if (!isQuery(query)) return null
  const isAny = Array.isArray(query.$or) && Object.keys(query).length === 1
  const parts: readonly Json[] = isAny
    ? (query.$or as readonly Json[])
    : Array.isArray(query.$and) && Object.keys(query).length === 1
      ? query.$and
      : Object.entries(query).map(([name, value]) => ({ [name]: value }))
  const items: (Condition | Group | null)[] = []
  for (const part of parts) {
    if (!isQuery(part)) return null
    const names = Object.keys(part)
    if (names.includes('$or') || names.includes('$and') || (isAny && names.length > 1)) items.push(groupOf(part, noun))
    else items.push(...names.filter((name) => name !== '$text').map((name) => conditionOf(name, part[name]!, noun)))
  }
  return items.includes(null) ? null : { mode: isAny ? 'any' : 'all', items: items as (Condition | Group)[] }
}

export function isGroup(item: Condition | Group): item is Group {
  return 'items' in item
}

/** What is wrong with the value of a condition, for people; null when nothing is. */
export function faultOf({ value }: Condition, kind: Field['kind']): string | null {
  if (kind !== 'number' || value.trim() === '') return null
  const parts = value.includes(';') ? value.split(';') : [value]
  return parts.some((part) => numberOf(part) === null) ? t('Write a number.') : null
}

/** The number that people wrote, in the format of their language or in the other one. */
function numberOf(text: string): number | null {
  const { format } = guessNumbers([text])
  return readNumber(text, format)
}

function operandOf({ operator, value }: Condition, kind: Field['kind']): Json | undefined {
  if (operator === 'there') return { $exists: true }
  if (operator === 'missing') return { $exists: false }
  if (value.trim() === '') return undefined
  const text = value.trim()
  switch (operator) {
    case 'contains':
      return pattern(literal(text))
    case 'lacks':
      return { $not: pattern(literal(text)) }
    case 'starts':
      return pattern(`^${literal(text)}`)
    case 'ends':
      return pattern(`${literal(text)}$`)
    case 'during':
      return { $during: text }
    case 'on':
    case 'before':
    case 'from':
      return dayOperand(operator, text, kind)
    case '$in':
    case '$nin':
      return listOperand(operator, text, kind)
    default: {
      const one = typed(text, kind)
      if (one === undefined) return undefined
      return operator === 'is' ? one : { [operator === 'isNot' ? '$ne' : operator]: one }
    }
  }
}

function dayOperand(operator: string, text: string, kind: Field['kind']): Json | undefined {
  const day = dayNamed(text)
  if (day === null) return undefined
  const moment = (date: Date) => (kind === 'date' ? dayName(date) : date.toISOString())
  if (operator === 'before') return { $lt: moment(day) }
  if (operator === 'from') return { $gte: moment(day) }
  return { $gte: moment(day), $lt: moment(moved(day, 1)) }
}

function listOperand(operator: string, text: string, kind: Field['kind']): Json | undefined {
  // A comma may be part of a number.
  const words = text
    .split(kind === 'number' ? ';' : ',')
    .map((word) => word.trim())
    .filter(Boolean)
  const values = words.map((word) => typed(word, kind))
  return values.includes(undefined) ? undefined : { [operator]: values as Json[] }
}

function typed(text: string, kind: Field['kind']): Json | undefined {
  if (kind === 'number') return numberOf(text) ?? undefined
  return kind === 'boolean' ? text === 'true' || text === 'yes' : text
}

function conditionOf(field: string, operand: Json, noun: Noun): Condition | null {
  if (field.startsWith('$') && !/^\$(id|version|createdAt|updatedAt|createdBy)$/.test(field)) return null
  const kind = kindOf(noun, field)
  const isTime = TIMES.includes(kind)
  if (operand === null) return { field, operator: 'missing', value: '' }
  if (!isQuery(operand))
    return isTime || Array.isArray(operand) ? null : { field, operator: 'is', value: textOf(operand) }
  const names = Object.keys(operand).join(' ')
  if (names === '$exists') return { field, operator: operand.$exists ? 'there' : 'missing', value: '' }
  if (names === '$during') return { field, operator: 'during', value: String(operand.$during) }
  if (isTime) return dayCondition(field, operand, kind)
  const words = wordsCondition(operand)
  if (words) return { field, ...words }
  const operator = names === '$ne' ? 'isNot' : names
  if (!OPERATORS.some(({ name, kinds }) => name === operator && (!kinds || kinds.includes(kind)))) return null
  const value = operand[names]!
  return {
    field,
    operator,
    value: Array.isArray(value) ? value.map(textOf).join(kind === 'number' ? '; ' : ', ') : textOf(value),
  }
}

/** `contains`, `starts with` and `ends with`, when a pattern is one of these. */
function wordsCondition(operand: Query): Omit<Condition, 'field'> | null {
  if (isQuery(operand.$not ?? null) && Object.keys(operand).length === 1) {
    const inner = wordsCondition(operand.$not as Query)
    return inner?.operator === 'contains' ? { ...inner, operator: 'lacks' } : null
  }
  if (typeof operand.$regex !== 'string' || operand.$options !== 'i') return null
  const [, start, text, end] = /^(\^?)((?:[^\\^$.|?*+()[\]{}]|\\.)*)(\$?)$/s.exec(operand.$regex) ?? []
  if (text === undefined || (start && end)) return null
  return { operator: start ? 'starts' : end ? 'ends' : 'contains', value: text.replace(/\\(.)/gs, '$1') }
}

function dayCondition(field: string, operand: Query, kind: Field['kind']): Condition | null {
  const begin = dayAt(operand.$gte, kind)
  const end = dayAt(operand.$lt, kind)
  const names = Object.keys(operand).join(' ')
  if (names === '$gte' && begin) return { field, operator: 'from', value: dayName(begin) }
  if (names === '$lt' && end) return { field, operator: 'before', value: dayName(end) }
  if (names === '$gte $lt' && begin && end && dayName(moved(begin, 1)) === dayName(end))
    return { field, operator: 'on', value: dayName(begin) }
  return null
}

/** The day that begins at a moment of a query, or null. */
function dayAt(value: Json | undefined, kind: Field['kind']): Date | null {
  if (typeof value !== 'string') return null
  if (kind === 'date') return dayNamed(value)
  const date = new Date(value)
  return date.getTime() === dayOf(date).getTime() ? date : null
}

function pattern(regex: string): Json {
  return { $regex: regex, $options: 'i' }
}

/** A text as a pattern that matches nothing but it. */
function literal(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&')
}

function textOf(value: Json): string {
  return typeof value === 'number'
    ? new Intl.NumberFormat(undefined, { maximumFractionDigits: 20, useGrouping: false }).format(value)
    : String(value)
}
