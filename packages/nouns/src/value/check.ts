import { isComputed } from '../expression/computed.ts'
import { didYouMean } from '../nearest.ts'
import { article, camelPrefix, listed } from '../notation/english.ts'
import {
  ANY_TYPE,
  type ForwardField,
  type Json,
  type JsonObject,
  type Kind,
  type Noun,
  type ValueField,
} from '../noun.ts'
import { type Issue, MOST_ISSUES } from '../problem.ts'
import { fileCheck } from './file.ts'
import { FORBIDDEN_NAMES, isPlainObject, notAllowed, storable } from './json.ts'
import { isoOf, parseInstant } from './time.ts'

/** Fields in their stored form, and all errors of the input. */
export interface Checked {
  readonly data: JsonObject
  readonly issues: readonly Issue[]
}

/** Options of the validation. */
export interface CheckWay {
  /** Ignores computed fields instead of refusing them, because imports and syncs contain the values of an export. */
  readonly dropsComputed?: boolean
}

/**
 * Validates the fields of a new entity: missing fields get their default; null means "known to be empty" and gets none.
 */
export function checkDraft(noun: Noun, input: unknown, now: number, way: CheckWay = {}): Checked {
  const checker = checkerOf(noun)
  const { data, issues, given } = read(checker, input, { ...way, patch: false })
  if (given === null) return { data, issues }
  for (const { name, required, service, fallback } of checker.expected) {
    const empty = !service && Object.hasOwn(given, name) && given[name] === null
    if (empty || Object.hasOwn(data, name)) continue
    if (fallback) data[name] = fallback(now)
    else if (required) issues.push({ field: name, message: 'is required' })
  }
  return { data, issues }
}

/** Validates only the fields that an update or a verb changes; null clears a field. */
export function checkPatch(noun: Noun, input: unknown, _now: number, way: CheckWay = {}): Checked {
  const { data, issues } = read(checkerOf(noun), input, { ...way, patch: true })
  return { data, issues }
}

/** Validates the arguments of a verb that stores them in its event: any names, but only storable values. */
export function checkArguments(input: JsonObject): Checked {
  const data: { [name: string]: Json } = {}
  const issues: Issue[] = []
  for (const [name, value] of Object.entries(input)) {
    if (FORBIDDEN_NAMES.has(name)) issues.push({ field: name, message: notAllowed(name) })
    else if (value !== undefined) data[name.toWellFormed()] = storable(value, name, issues)
  }
  return { data, issues }
}

/** Validates the fields that a verb sets by its declaration, including those that only the service writes. */
export function checkSet(noun: Noun, input: { readonly [field: string]: unknown }): Checked {
  const { data, issues } = read(checkerOf(noun), input, { patch: true, own: true })
  return { data, issues }
}

/** Fields in answers of the service that a client may send back; they are ignored. */
const IGNORED: ReadonlySet<string> = new Set([
  '$id',
  '$type',
  '$version',
  '$context',
  '$createdAt',
  '$updatedAt',
  '$createdBy',
  '$source',
  'createdAt',
  'updatedAt',
])

interface Checker {
  readonly noun: Noun
  readonly rules: ReadonlyMap<string, Rule>
  /** The required fields and the defaults of a draft. */
  readonly expected: readonly Expected[]
}

type Rule =
  | { readonly is: 'ignored' }
  | { readonly is: 'back' | 'computed'; readonly message: string }
  | { readonly is: 'checked'; readonly required: boolean; readonly service: boolean; readonly check: CheckValue }

interface Expected {
  readonly name: string
  readonly required: boolean
  /** True if the sent value was ignored. */
  readonly service: boolean
  readonly fallback: ((now: number) => Json) | null
}

interface Reading {
  readonly data: { [field: string]: Json }
  readonly issues: Issue[]
  readonly given: { readonly [field: string]: unknown } | null
}

interface ReadWay extends CheckWay {
  /** True if null clears a field. */
  readonly patch: boolean
  /** True if the service itself writes. */
  readonly own?: boolean
}

function read(checker: Checker, input: unknown, { patch, own = false, dropsComputed = false }: ReadWay): Reading {
  const data: { [field: string]: Json } = {}
  const issues: Issue[] = []
  if (!isPlainObject(input)) {
    issues.push({ field: '', message: 'the body must be a JSON object' })
    return { data, issues, given: null }
  }
  for (const name of Object.keys(input)) {
    if (issues.length > MOST_ISSUES) break
    const value = input[name]
    if (value === undefined) continue
    const rule = checker.rules.get(name)
    if (rule === undefined) readUndeclared(checker.noun, name, value, data, issues)
    else if (rule.is === 'back') issues.push({ field: name, message: rule.message })
    else if (rule.is === 'computed') {
      if (!dropsComputed) issues.push({ field: name, message: rule.message })
    } else if (rule.is === 'checked' && (own || !rule.service)) {
      if (value !== null) data[name] = rule.check(value, issues)
      else if (rule.required)
        issues.push({ field: name, message: patch ? 'is required and cannot be cleared' : 'is required' })
      else if (patch) data[name] = null
    }
  }
  return { data, issues, given: input }
}

function readUndeclared(
  noun: Noun,
  name: string,
  value: unknown,
  data: { [field: string]: Json },
  issues: Issue[],
): void {
  if (FORBIDDEN_NAMES.has(name)) issues.push({ field: name, message: notAllowed(name) })
  else if (name.startsWith('$'))
    issues.push({ field: name, message: 'starts with $, which is reserved for the service' })
  else if (noun.strict) {
    issues.push({ field: name, message: `is not declared, and ${noun.name} is strict${hintFor(noun, name)}` })
  } else data[name.toWellFormed()] = storable(value, name, issues)
}

const MOST_LISTED = 8

/** The field that a name may mean, or all fields that can be written if these are few. */
function hintFor({ fields }: Noun, name: string): string {
  const writable = Object.values(fields).filter(
    (field) => field.kind === 'forward' || (field.kind !== 'back' && !field.service && !isComputed(field)),
  )
  const hint = didYouMean(name, Object.keys(fields))
  if (hint !== '' || writable.length === 0 || writable.length > MOST_LISTED) return hint
  return `; its fields are ${listed(
    writable.map(({ name }) => name),
    'and',
  )}`
}

const checkers = new WeakMap<Noun, Checker>()

function checkerOf(noun: Noun): Checker {
  const known = checkers.get(noun)
  if (known) return known
  const made = makeChecker(noun)
  checkers.set(noun, made)
  return made
}

function makeChecker(noun: Noun): Checker {
  const rules = new Map<string, Rule>()
  const expected: Expected[] = []
  for (const name of IGNORED) rules.set(name, { is: 'ignored' })
  for (const field of Object.values(noun.fields)) {
    const { name } = field
    if (field.kind === 'back') {
      rules.set(name, { is: 'back', message: `is the inverse of ${field.target}.${field.via}; set that field instead` })
      continue
    }
    if (isComputed(field)) {
      rules.set(name, { is: 'computed', message: 'is computed and cannot be written' })
      continue
    }
    const service = field.kind !== 'forward' && field.service
    rules.set(name, { is: 'checked', required: field.required, service, check: valueCheck(field) })
    const fallback = field.kind === 'forward' ? null : fallbackOf(field)
    if (fallback || (field.required && !service)) expected.push({ name, required: field.required, service, fallback })
  }
  return { noun, rules, expected }
}

function fallbackOf({ kind, default: value }: ValueField): Expected['fallback'] {
  if (value === undefined) return null
  if (value === 'now' && kind === 'datetime') return isoOf
  if (value === 'now' && kind === 'date') return (now) => isoOf(now).slice(0, 10)
  return () => value
}

/** Validates a value that is not null and returns it normalised; errors are added to `issues`. */
type CheckValue = (value: unknown, issues: Issue[]) => Json

/** The validator of a field's values, created once per field. */
export function valueCheck(field: ValueField | ForwardField): CheckValue {
  const one = field.kind === 'forward' ? idCheck(field) : singleCheck(field)
  return field.list ? listCheck(field.name, one) : (value, issues) => one(value, field.name, issues)
}

type CheckOne = (value: unknown, at: string, issues: Issue[]) => Json

function listCheck(name: string, one: CheckOne): CheckValue {
  return (value, issues) => {
    if (!Array.isArray(value)) {
      issues.push({ field: name, message: 'must be a list' })
      return null
    }
    const items: Json[] = []
    for (let i = 0; i < value.length && issues.length <= MOST_ISSUES; i++)
      items.push(one(value[i], `${name}.${i}`, issues))
    return items
  }
}

function singleCheck(field: ValueField): CheckOne {
  const { kind, values = [] } = field
  if (kind === 'enum') return enumCheck(values)
  if (field.min !== undefined || field.max !== undefined) return rangeCheck(field)
  if (kind === 'json') return storable
  if (kind === 'file') return fileCheck
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

const READERS: { readonly [kind in Exclude<Kind, 'enum' | 'json' | 'file'>]: Reader } = {
  string: { read: readText, wanted: 'a string' },
  secret: { read: (value) => readText(value) || undefined, wanted: 'a string that is not empty' },
  number: { read: (value) => (Number.isFinite(value) ? (value as number) : undefined), wanted: 'a number' },
  boolean: { read: (value) => (typeof value === 'boolean' ? value : undefined), wanted: 'true or false' },
  date: { read: (value) => readInstant(value)?.slice(0, 10), wanted: 'a date such as 2026-01-31' },
  datetime: { read: readInstant, wanted: 'an ISO 8601 datetime such as 2026-01-31T09:00:00Z' },
}
