import { compareText, isObject, type Json, type Leaf } from '@tildebase/nouns'
import { type Fragment, fragment, listOf, plain } from './fragment.ts'

/** What a leaf asks of values of some JSON types; of all others it is not met. */
export interface Case {
  /** Names that `json_type` gives. */
  readonly types: readonly JsonType[]
  /** 0 or 1 for a value of these types, never NULL. */
  readonly test: (value: Fragment) => Fragment
}

type JsonType = 'null' | 'true' | 'false' | 'integer' | 'real' | 'text' | 'array' | 'object'

const NUMBER: readonly JsonType[] = ['integer', 'real']
const YES = () => plain('1')

/** The cases of a leaf, or null when only memory can tell. */
export function casesOf({ op, value }: Leaf): Case[] | null {
  if (op === 'regex') return null
  if (op === 'eq') return equality([value])
  if (op === 'in') return equality(value as readonly Json[])
  if (op === 'exists') return [{ types: ['true', 'false', 'integer', 'real', 'text', 'array', 'object'], test: YES }]
  return Array.isArray(value) ? null : comparison(op, value)
}

/** `CASE type WHEN 'text' THEN … ELSE 0 END` over the cases. */
export function caseOf(
  type: Fragment,
  value: Fragment,
  cases: readonly Case[],
  others: Fragment = plain(''),
): Fragment {
  return cases.reduce(
    (sql, one) => one.types.reduce((all, name) => fragment`${all} WHEN '${plain(name)}' THEN ${one.test(value)}`, sql),
    fragment`CASE ${type}${others}`,
  )
}

/** Values are grouped by type, since SQLite would find `true` equal to 1 and JSON text equal to a string. */
function equality(values: readonly Json[]): Case[] | null {
  const texts = values.filter((value) => typeof value === 'string')
  const numbers = values.filter((value) => typeof value === 'number')
  const lists = values.filter((value) => Array.isArray(value))
  const objects = values.filter((value) => isObject(value))
  if ([...lists, ...objects].some(hasOrder)) return null
  const constants = [null, true, false].filter((constant) => values.includes(constant))
  return [
    ...(texts.length > 0 ? [{ types: ['text'], test: among(texts) } as const] : []),
    ...(numbers.length > 0 ? [{ types: NUMBER, test: among(numbers) }] : []),
    ...constants.map((constant): Case => ({ types: [`${constant}`], test: YES })),
    ...(lists.length > 0
      ? [{ types: ['array'], test: among(lists.map((list) => JSON.stringify(list))) } as const]
      : []),
    ...(objects.length > 0
      ? [{ types: ['object'], test: among(objects.map((one) => JSON.stringify(one))) } as const]
      : []),
  ]
}

function among(values: readonly (string | number)[]): Case['test'] {
  const [first] = values
  if (values.length === 1) return (value) => fragment`${exact(value, first!)} = ${first!}`
  return (value) => fragment`${exact(value, ...values)} IN ${listOf(values)}`
}

function comparison(op: Leaf['op'], operand: Json): Case[] {
  const sign = plain({ gt: '>', gte: '>=', lt: '<', lte: '<=' }[op as 'gt'])
  if (typeof operand === 'number')
    return [{ types: NUMBER, test: (value) => fragment`${exact(value, operand)} ${sign} ${operand}` }]
  if (typeof operand === 'string') return [{ types: ['text'], test: (value) => fragment`${value} ${sign} ${operand}` }]
  const met = [true, false].filter((value) => {
    const difference = compareText(`${value}`, `${operand}`)
    return { gt: difference > 0, gte: difference >= 0, lt: difference < 0, lte: difference <= 0 }[op as 'gt']
  })
  return [{ types: met.map((value) => `${value}` as const), test: YES }]
}

/** Whole numbers from 2^53 on are written in JSON as digits that are only nearly the number they were: compare as numbers. */
function exact(value: Fragment, ...operands: readonly (string | number)[]): Fragment {
  const isLong = operands.some((operand) => typeof operand === 'number' && Math.abs(operand) >= 2 ** 53)
  return isLong ? fragment`CAST(${value} AS REAL)` : value
}

/** Whether the order of keys could tell two equal values apart, as it does in JSON text. */
function hasOrder(value: Json): boolean {
  if (Array.isArray(value)) return value.some(hasOrder)
  if (!isObject(value)) return false
  return Object.keys(value).length > 1 || Object.values(value).some(hasOrder)
}
