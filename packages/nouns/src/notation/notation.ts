import type { Notation, NounOf } from '../infer/infer.ts'
import type { Field, JsonObject, Noun, Verb } from '../noun.ts'
import { type Issue, Problem } from '../problem.ts'
import { FORBIDDEN_NAMES, isPlainObject, storable } from '../value/json.ts'
import { type NounOptions, useParser } from './declare.ts'
import { camelPrefix, listed } from './english.ts'
import { parseAbout } from './parse-about.ts'
import { parseField } from './parse-field.ts'
import { parseGuard, parseUnique } from './parse-rules.ts'
import { parseTimers } from './parse-timer.ts'
import { BUILT_IN, parseVerb, RESTS_ON, tellMisfits } from './parse-verb.ts'

/** A built-in type, always parsed. Users declare theirs with `noun` of declare.ts. */
export function noun<const Name extends string, const N extends Notation>(
  name: Name,
  notation: N,
  options: NounOptions = {},
): NounOf<Name, N> {
  return parseNoun(name, notation, options) as unknown as NounOf<Name, N>
}

/** Reads a type from its notation as plain data, or throws a Problem with all its errors. */
export function parseNoun(name: string, notation: unknown, options: NounOptions = {}): Noun {
  const faults: Issue[] = []
  const parsed = parse(name, withOptions(notation, options), options.storage ?? 'entity', faults)
  const { renamed } = options
  if (parsed !== null && faults.length === 0) return renamed ? Object.freeze({ ...parsed, renamed }) : parsed
  const list = faults.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`)).join('; ')
  const subject = NAME.test(name) ? name : 'this type'
  throw new Problem('invalid_schema', `The declaration of ${subject} is not valid. ${list}`, {
    type: name,
    ...(faults[0] && { field: faults[0].field }),
    details: faults,
  })
}

const NAME = /^[A-Z][A-Za-z0-9]{0,63}$/
const FIELD_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/
const VERB_NAME = /^[a-z][A-Za-z0-9]{0,63}$/
const RESERVED_FIELDS = ['createdAt', 'updatedAt']
const PATHS_OF_ENTITIES = ['history', 'diff', 'timers', 'runs', 'erase']
const MAX_FIELDS = 200
const MAX_VERBS = 100
const MAX_BYTES = 65_536

function parse(name: string, given: unknown, storage: Noun['storage'], faults: Issue[]): Noun | null {
  if (!NAME.test(name)) {
    faults.push({
      field: '',
      message: 'The name of a type must start with a capital letter, then letters and digits, at most 64 characters',
    })
  }
  const notation = notationOf(given, faults)
  if (notation === null) return null
  const tellOf = (field: string) => (message: string) => void faults.push({ field, message })
  const { domain, path, strict } = parseAbout(name, notation, tellOf)
  const fields = new Map<string, Field>()
  const verbs = new Map<string, Verb>()
  for (const [key, value] of Object.entries(notation)) {
    if (key.startsWith('$')) continue
    if (typeof value === 'string') {
      tellFieldName(key, tellOf(key))
      const field = parseField(key, value, tellOf(key))
      if (field) fields.set(key, field)
    } else if (isPlainObject(value)) {
      tellVerbName(key, tellOf(key))
      verbs.set(key, parseVerb(key, value, tellOf(key)))
    } else if (value !== null) {
      tellOf(key)('must be a string (a field), an object (a verb) or null (turns off a built-in verb)')
    } else if (!BUILT_IN.some((verb) => verb.name === key)) {
      tellOf(key)(`is null, which turns off a built-in verb: ${listed(BUILT_IN.map((verb) => verb.name))}`)
    }
  }
  if (fields.size > MAX_FIELDS) tellOf('')(`It has ${fields.size} fields; at most ${MAX_FIELDS} are allowed.`)
  if (verbs.size > MAX_VERBS) tellOf('')(`It has ${verbs.size} verbs; at most ${MAX_VERBS} are allowed.`)
  const stateField = stateFieldOf(fields, verbs.values())
  const states = statesOf(fields, stateField)
  for (const field of fields.values()) if (field.kind === 'file') tellFileName(field.name, verbs, tellOf(field.name))
  for (const verb of verbs.values()) tellMisfits(verb, { fields, states, strict }, tellOf(verb.name))
  const timers = parseTimers(notation.$timers, { fields, verbs, states }, tellOf('$timers'))
  const unique = parseUnique(notation.$unique, fields, tellOf('$unique'))
  const off = (verb: string) => Object.hasOwn(notation, verb) && notation[verb] === null
  const builtIn = BUILT_IN.filter(({ name }) => !off(name) && !off(RESTS_ON[name] ?? name))
  return deepFreeze({
    name,
    domain,
    path,
    prefix: camelPrefix(name),
    fields: dictionary(fields),
    verbs: dictionary([...builtIn.map((verb) => [verb.name, { ...verb }] as const), ...verbs]),
    stateField,
    timers: dictionary(timers),
    unique,
    ...parseGuard(notation, states, tellOf),
    strict,
    storage,
    notation,
  })
}

function withOptions(notation: unknown, { domain, path, strict }: NounOptions): unknown {
  if (!isPlainObject(notation)) return notation
  return {
    ...(domain !== undefined && { $domain: domain }),
    ...(path !== undefined && { $path: path }),
    ...(strict !== undefined && { $strict: strict }),
    ...notation,
  }
}

/** A copy of the notation, after checking that it is JSON within the size limit. */
function notationOf(given: unknown, faults: Issue[]): JsonObject | null {
  if (!isPlainObject(given)) {
    faults.push({ field: '', message: 'The notation of a type must be a JSON object of fields and verbs.' })
    return null
  }
  const before = faults.length
  for (const [key, value] of Object.entries(given)) {
    if (FORBIDDEN_NAMES.has(key)) faults.push({ field: key, message: 'is not allowed as a name' })
    storable(value, key, faults)
  }
  if (faults.length > before) return null
  const text = JSON.stringify(given)
  const bytes = new TextEncoder().encode(text).length
  if (bytes > MAX_BYTES) {
    faults.push({ field: '', message: `The notation has ${bytes} bytes; at most ${MAX_BYTES} are allowed.` })
    return null
  }
  return JSON.parse(text) as JsonObject
}

function tellFieldName(name: string, tell: (message: string) => void): void {
  if (!FIELD_NAME.test(name))
    tell('is not a valid name: fields start with a letter or _, then letters, digits and _, at most 64 characters')
  if (RESERVED_FIELDS.includes(name)) tell('is a field of every entity that the service sets')
  if (BUILT_IN.some((verb) => verb.name === name)) tell('is the name of a built-in verb, so it cannot be a field')
}

/** The content of a file is at …/:Type/:id/:field, so its field cannot be called like another path there. */
function tellFileName(name: string, verbs: ReadonlyMap<string, Verb>, tell: (message: string) => void): void {
  if (verbs.has(name)) tell('is the name of a verb, so it cannot be a file')
  if (PATHS_OF_ENTITIES.includes(name)) tell('is a path of every entity, so it cannot be a file')
}

function tellVerbName(name: string, tell: (message: string) => void): void {
  if (!VERB_NAME.test(name))
    tell('is not a valid name: verbs start with a lower-case letter, then letters and digits, at most 64 characters')
  if (BUILT_IN.some((verb) => verb.name === name))
    tell('is a built-in verb: it can be turned off with null, but not declared')
}

/** The enum that verbs with `from` set, else `status`, else `stage`. */
function stateFieldOf(fields: ReadonlyMap<string, Field>, verbs: Iterable<Verb>): string | null {
  for (const { from, set } of verbs) {
    if (!from) continue
    for (const name of Object.keys(set ?? {})) {
      const states = statesOf(fields, name)
      if (states && from.every((state) => states.includes(state))) return name
    }
  }
  return ['status', 'stage'].find((name) => statesOf(fields, name) !== null) ?? null
}

function statesOf(fields: ReadonlyMap<string, Field>, name: string | null): readonly string[] | null {
  const field = name === null ? undefined : fields.get(name)
  return field?.kind === 'enum' && !field.list ? (field.values ?? null) : null
}

/** An object without a prototype, so that `constructor` is not found in it. */
function dictionary<T>(entries: Iterable<readonly [string, T]>): { readonly [name: string]: T } {
  return Object.assign(Object.create(null), Object.fromEntries(entries))
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const one of Object.values(value)) deepFreeze(one)
  return Object.freeze(value)
}

useParser(parseNoun)
