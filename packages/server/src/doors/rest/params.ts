import {
  allOf,
  EVERYTHING,
  type Filter,
  hasLoneSurrogate,
  type Noun,
  OPERATORS,
  Problem,
  parseSort,
} from '@tildebase/nouns'
import type { Query as Question } from '@tildebase/tenant'
import { limitOf, offsetOf } from '@tildebase/tenant/internal'
import { type Call, flagParam, givenTwice, type Query, Repeated, textParam } from '../call.ts'

/** Parameters of every list: a field of such a name is reached by `filter`. */
const RESERVED = new Set(['filter', 'sort', 'limit', 'offset', 'cursor', 'asOf', 'include', 'fields'])
/** Words of our own: a type that declares a field of such a name keeps it, as Invoice does with `total`. */
const WORDS = new Set(['total', 'explain', 'dryRun', 'upsert', 'format', 'safe', 'wait', 'since', 'cascade', 'strict'])

/** The parameters that the service itself has. */
export const PARAMETER_NAMES: readonly string[] = [...RESERVED, ...WORDS, 'propose', 'reason']

/** The question that a list request asks. */
export function findQuery(call: Call, noun: Noun): Question {
  const { query, read } = call
  const filter = filterParam(call, noun)
  const asOf = asOfParam(call, noun)
  const sort = query.get('sort')
  const limit = query.get('limit')
  const offset = query.get('offset')
  return {
    type: noun.name,
    filter,
    sort: sort === undefined ? [] : parseSort(sortOf(sort), noun, read.nouns),
    ...(limit !== undefined && { limit: limitOf(limit) }),
    ...(offset !== undefined && { offset: offsetOf(offset) }),
    cursor: textParam(query, 'cursor') || null,
    asOf,
    include: includeParam(call, noun),
    total: isField(noun, 'total') || flagParam(query, 'total', true),
  }
}

/** A sort in the form of the SDK and of MCP, `{"stage": 1}`, is one here too. */
function sortOf(given: unknown): unknown {
  if (typeof given !== 'string' || !given.startsWith('{')) return given
  try {
    return JSON.parse(given)
  } catch {
    return given
  }
}

/** Whether a parameter asks for a field of the type. */
export function isField(noun: Noun, name: string): boolean {
  return !RESERVED.has(name) && (!WORDS.has(name) || Object.hasOwn(noun.fields, name))
}

/** What a read of one entity asks for. */
export function getQuery(call: Call, noun: Noun): Pick<Question, 'asOf' | 'include'> {
  return { asOf: asOfParam(call, noun), include: includeParam(call, noun) }
}

/** `filter`, plain parameters and the lens, all of which must hold. The key must be allowed to read what they reach. */
export function filterParam(call: Call, noun: Noun): Filter {
  const { query, read, lens } = call
  const plain = plainParams(query, noun)
  const given = query.get('filter')
  const filter = given === undefined || given === '' ? EVERYTHING : read.questions.filter(noun, filterJson(given))
  const equalities = plain.length === 0 ? EVERYTHING : read.questions.equalities(noun, plain)
  const asked = allOf([filter, equalities])
  return lens.industry === null ? asked : allOf([asked, read.questions.industry(noun, lens)])
}

/** The parameters that are fields. One that is given twice must hold twice; of others only one could count. */
function plainParams(query: Query, noun: Noun): (readonly [string, string])[] {
  return [...query].flatMap(([name, value]) => {
    if (isField(noun, name))
      return (value instanceof Repeated ? value : [value]).map((one) => [name, String(one)] as const)
    if (!(value instanceof Repeated)) return []
    throw givenTwice(name, value)
  })
}

export function asOfParam(call: Call, { name }: Noun): number | null {
  const asOf = textParam(call.query, 'asOf')
  return asOf === undefined || asOf === '' ? null : call.read.questions.asOf(asOf, name)
}

function includeParam(call: Call, noun: Noun): readonly string[] {
  return call.read.questions.include(noun, call.query.get('include'))
}

/** The filter that a URL gives as text, and a batch as JSON. */
export function filterJson(given: unknown): unknown {
  if (typeof given !== 'string') return given
  const refuse = (message: string) =>
    new Problem('invalid_filter', message, { field: 'filter', supported: Object.keys(OPERATORS) })
  let json: unknown
  try {
    json = JSON.parse(given)
  } catch {
    throw refuse('The filter is not valid JSON. It must be an object, such as {"stage": "Lead"}.')
  }
  if (json === null) throw refuse('A filter must be an object, such as {"stage": "Lead"}. Omit it for all entities.')
  if (hasLoneSurrogate(given, json))
    throw refuse('The filter has half of a surrogate pair (such as \\ud83d), which is not text.')
  return json
}
