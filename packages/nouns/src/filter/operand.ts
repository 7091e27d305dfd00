import type { Field, Json } from '../noun.ts'
import { isPlainObject, MAX_DEPTH } from '../value/json.ts'
import { isoOf, parseInstant } from '../value/time.ts'
import type { Leaf, Path } from './filter.ts'
import { quoted } from './path.ts'
import { relativeInstant } from './relative.ts'

/** Returns the error of a regular expression, or null. */
export type CheckRegex = (pattern: string, flags: string) => string | null

/** The operators on a field, each with the leaf that it becomes. */
export const OPERATORS: { readonly [name: string]: { readonly op: Leaf['op']; readonly negated?: true } } = {
  $eq: { op: 'eq' },
  $ne: { op: 'eq', negated: true },
  $gt: { op: 'gt' },
  $gte: { op: 'gte' },
  $lt: { op: 'lt' },
  $lte: { op: 'lte' },
  $in: { op: 'in' },
  $nin: { op: 'in', negated: true },
  $exists: { op: 'exists' },
  $regex: { op: 'regex' },
  // Contains another operator expression; parsed separately.
  $not: { op: 'eq', negated: true },
}

const LONGEST_PATTERN = 256
/** Values of one list: more would take long before the first row is read. */
const LONGEST_LIST = 10_000

interface About {
  readonly path: Path
  /** The declaration of the field, if there is one. */
  readonly field: Field | undefined
  readonly now: number
  readonly regex: CheckRegex
}

type Operand = Pick<Leaf, 'value' | 'said'> | { readonly fault: string }

/** Checks and normalises the operand of an operator. */
export function operand(name: string, value: unknown, options: unknown, about: About): Operand {
  if (name === '$exists') return typeof value === 'boolean' ? { value } : { fault: '$exists needs true or false.' }
  if (name === '$regex') return regexOperand(value, options, about)
  if (!isJson(value, 0)) return { fault: `${name} on ${quoted(about.path.text)} needs a JSON value.` }
  if (name === '$in' || name === '$nin') return listOperand(name, value, about)
  if (name !== '$eq' && name !== '$ne' && (value === null || isPlainObject(value))) {
    return { fault: `${name} on ${quoted(about.path.text)} needs a number, a string, a boolean or a list.` }
  }
  return normalised(value, about)
}

function regexOperand(pattern: unknown, options: unknown, about: About): Operand {
  if (typeof pattern !== 'string' || pattern.length > LONGEST_PATTERN) {
    return { fault: `$regex needs a pattern of at most ${LONGEST_PATTERN} characters.` }
  }
  if (options !== undefined && (typeof options !== 'string' || !/^[ims]*$/.test(options))) {
    return { fault: '$options allows the letters i, m and s.' }
  }
  const flags = [...new Set(options ?? '')].sort().join('')
  const reason = about.regex(pattern, flags)
  return reason === null ? { value: { pattern, flags } } : { fault: `$regex is not a valid RE2 pattern: ${reason}.` }
}

function listOperand(name: string, value: Json, about: About): Operand {
  if (!Array.isArray(value)) return { fault: `${name} needs a list of values.` }
  if (value.length > LONGEST_LIST) return { fault: `${name} takes at most ${LONGEST_LIST} values.` }
  if (value.some((one) => isPlainObject(one) && Object.keys(one).some((key) => key.startsWith('$')))) {
    return { fault: `${name} needs values, not operators.` }
  }
  return normalised(value, about)
}

/** Operands of dates and datetimes in their stored form; all others unchanged. */
function normalised(value: Json, about: About): Operand {
  const kind = timeKind(about)
  if (kind === null) return { value }
  const texts = (Array.isArray(value) ? value : [value]) as readonly Json[]
  const instants = texts.map((text) => instantOf(text, about.now))
  if (instants.includes(undefined)) {
    return {
      fault: `${quoted(about.path.text)} is a ${kind}. Use ISO 8601, such as 2026-01-31T09:00:00Z, or now, today or 7d ago.`,
    }
  }
  const stored = instants.map((instant) => (instant === null ? null : storedTime(instant as number, kind)))
  const relative = texts.some((text) => typeof text === 'string' && parseInstant(text) === null)
  return { value: Array.isArray(value) ? stored : stored[0]!, ...(relative && { said: value }) }
}

function timeKind({ path, field }: About): 'date' | 'datetime' | null {
  if (path.into.length > 0) return null
  if (path.field === '$createdAt' || path.field === '$updatedAt') return 'datetime'
  return field?.kind === 'date' || field?.kind === 'datetime' ? field.kind : null
}

/** The instant of an operand, null for null, undefined if it is not valid. */
function instantOf(text: Json, now: number): number | null | undefined {
  if (text === null) return null
  if (typeof text !== 'string') return undefined
  return parseInstant(text) ?? relativeInstant(text, now) ?? undefined
}

/** A date is stored as a day; a time of the same day is a longer string and compares as greater. */
function storedTime(instant: number, kind: 'date' | 'datetime'): string {
  const iso = isoOf(instant)
  return kind === 'date' && iso.endsWith('T00:00:00.000Z') ? iso.slice(0, 10) : iso
}

function isJson(value: unknown, depth: number): value is Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (depth >= MAX_DEPTH || typeof value !== 'object') return false
  if (Array.isArray(value)) return value.every((one) => isJson(one, depth + 1))
  return isPlainObject(value) && Object.values(value).every((one) => isJson(one, depth + 1))
}
