import { didYouMean } from '../nearest.ts'
import { article, camelPrefix, listed } from '../notation/english.ts'
import { ANY_TYPE, type ForwardField, type Json, type Kind, type ValueField } from '../noun.ts'
import type { Issue } from '../problem.ts'
import { storable } from './json.ts'
import { isoOf, parseInstant } from './time.ts'

/** Validates a value that is not null and returns it normalised; errors are added to `issues`. */
export type CheckValue = (value: unknown, issues: Issue[]) => Json

/** The validator of a field's values, created once per field. */
export function valueCheck(field: ValueField | ForwardField): CheckValue {
  const one = field.kind === 'forward' ? idCheck(field) : singleCheck(field)
  return field.list ? listCheck(field.name, one) : (value, issues) => one(value, field.name, issues)
}

type CheckOne = (value: unknown, at: string, issues: Issue[]) => Json

function listCheck(name: string, one: CheckOne): CheckValue {
  return (value, issues) => {
    if (Array.isArray(value)) return value.map((item, index) => one(item, `${name}.${index}`, issues))
    issues.push({ field: name, message: 'must be a list' })
    return null
  }
}

function singleCheck(field: ValueField): CheckOne {
  const { kind, values = [] } = field
  if (kind === 'enum') return enumCheck(values)
  if (field.min !== undefined || field.max !== undefined) return rangeCheck(field)
  if (kind === 'json') return storable
  const { read, wanted } = READERS[kind]
  return (value, at, issues) => {
    const result = read(value)
    if (result !== undefined) return result
    issues.push({ field: at, message: `must be ${wanted}` })
    return null
  }
}

function rangeCheck({ min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: ValueField): CheckOne {
  const low = min === Number.NEGATIVE_INFINITY ? '' : ` of at least ${min}`
  const high = max === Number.POSITIVE_INFINITY ? '' : ` of at most ${max}`
  const bounds = low && high ? ` from ${min} to ${max}` : low || high
  return (value, at, issues) => {
    if (typeof value === 'number' && value >= min && value <= max) return value
    issues.push({ field: at, message: `must be a number${bounds}` })
    return null
  }
}

function enumCheck(words: readonly string[]): CheckOne {
  const known = new Set<unknown>(words)
  return (value, at, issues) => {
    if (known.has(value)) return value as string
    const hint = typeof value === 'string' ? didYouMean(value, words) : ''
    issues.push({ field: at, message: `must be ${listed(words)}${hint}` })
    return null
  }
}

function idCheck({ target, targets = [target] }: ForwardField): CheckOne {
  const starts = targets.map((one) => (one === ANY_TYPE ? '' : `${camelPrefix(one)}_`))
  const wanted = target === ANY_TYPE ? 'the id of an entity' : `the id of ${targets.map(article).join(' or ')}`
  return (value, at, issues) => {
    if (typeof value === 'string') {
      for (const start of starts)
        if (value.startsWith(start) && TOKEN.test(value.slice(start === '' ? value.indexOf('_') + 1 : start.length)))
          return value
    }
    issues.push({ field: at, message: `must be ${wanted}, such as ${starts[0] || 'contact_'}…` })
    return null
  }
}

const TOKEN = /^[A-Za-z0-9-]{1,64}$/

interface Reader {
  /** The normalised value, or undefined if it has another type. */
  readonly read: (value: unknown) => Json | undefined
  readonly wanted: string
}

const readText = (value: unknown): string | undefined => {
  if (typeof value !== 'string') return undefined
  return value.isWellFormed() ? value : value.toWellFormed()
}

const readInstant = (value: unknown): string | undefined => {
  const instant = typeof value === 'string' ? parseInstant(value) : null
  if (instant === null) return undefined
  return NORMAL.test(value as string) ? (value as string) : isoOf(instant)
}

/** The normal form of a datetime. */
const NORMAL = /^.{10}T.{8}\..{3}Z$/

const READERS: { readonly [kind in Exclude<Kind, 'enum' | 'json'>]: Reader } = {
  string: { read: readText, wanted: 'a string' },
  secret: { read: (value) => readText(value) || undefined, wanted: 'a string that is not empty' },
  number: { read: (value) => (Number.isFinite(value) ? (value as number) : undefined), wanted: 'a number' },
  boolean: { read: (value) => (typeof value === 'boolean' ? value : undefined), wanted: 'true or false' },
  date: { read: (value) => readInstant(value)?.slice(0, 10), wanted: 'a date such as 2026-01-31' },
  datetime: { read: readInstant, wanted: 'an ISO 8601 datetime such as 2026-01-31T09:00:00Z' },
}
