import { isComputed } from '../expression/computed.ts'
import { didYouMean } from '../nearest.ts'
import type { Field, Json, JsonObject, Verb } from '../noun.ts'
import type { Issue } from '../problem.ts'
import { valueCheck } from '../value/check.ts'
import { isPlainObject } from '../value/json.ts'
import { article, listed, pastTense, presentParticiple } from './english.ts'
import type { Tell } from './parse-field.ts'

/** The verbs of every type, unless it turns them off. */
export const BUILT_IN: readonly Verb[] = [
  { name: 'create', before: 'creating', event: 'created' },
  { name: 'update', before: 'updating', event: 'updated' },
  { name: 'delete', before: 'deleting', event: 'deleted' },
  { name: 'rollback', before: 'rollingBack', event: 'updated', args: ['asOf'] },
  { name: 'restore', before: 'restoring', event: 'restored' },
]

/** A rollback needs update, a restore needs delete. */
export const RESTS_ON: { readonly [verb: string]: string } = { rollback: 'update', restore: 'delete' }

const BUILT_IN_STEPS = new Set(BUILT_IN.flatMap(({ before, event }) => [before, event]))
const PARTS = ['event', 'before', 'from', 'set', 'args', 'order', 'keeps']
const STEP = /^[a-z][A-Za-z0-9]{0,63}$/
const ARGUMENT = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/

/** Reads one verb of the notation: `{event?, before?, from?, set?, args?, order?, keeps?}`. Reports every error. */
export function parseVerb(name: string, notation: { readonly [part: string]: unknown }, tell: Tell): Verb {
  for (const part of Object.keys(notation)) {
    if (!PARTS.includes(part)) tell(`has ${part}; a verb takes ${listed(PARTS)}${didYouMean(part, PARTS)}`)
  }
  const from = notation.from === '*' ? undefined : wordsOf('from', notation.from, tell)
  if (from?.length === 0) tell('has an empty from; omit it, or use *, for any state')
  const args = wordsOf('args', notation.args, tell)
  const order = wordsOf('order', notation.order, tell)
  for (const arg of args ?? []) if (!ARGUMENT.test(arg)) tell(`has the argument ${arg}, which is not a valid name`)
  if (notation.keeps !== undefined && notation.keeps !== 'event')
    tell('has a keeps that is not event: arguments are merged, or stored in the event')
  return {
    name,
    before: step('before', notation.before, presentParticiple(name), tell),
    event: step('event', notation.event, pastTense(name), tell),
    ...(from && { from }),
    ...(notation.set !== undefined && { set: settingsOf(notation.set, tell) }),
    ...(args && { args }),
    ...(order && { order }),
    ...(notation.keeps !== undefined && { keeps: 'event' }),
  }
}

/** The properties of a type that its verbs refer to. */
export interface VerbContext {
  readonly fields: ReadonlyMap<string, Field>
  readonly states: readonly string[] | null
  readonly strict: boolean
}

/** Reports the parts of a verb that do not match the type's fields. */
export function tellMisfits(verb: Verb, { fields, states, strict }: VerbContext, tell: Tell): void {
  const { set = {}, from = [], args = [], order = [], keeps } = verb
  for (const [name, value] of Object.entries(set)) tellSetting(name, value, fields.get(name), tell)
  if (verb.from && states === null) {
    tell('has from, but the type has no state field: set one in a verb, or declare status or stage')
  } else {
    const unknown = from.filter((state) => !states?.includes(state))
    if (unknown.length > 0) tell(`has from ${listed(unknown, 'and')}; the states are ${listed(states ?? [], 'and')}`)
  }
  if (order.length > 0 && !Object.values(set).includes('$next')) tell('has an order, but sets no field to $next')
  const astray = order.filter((state) => !states?.includes(state))
  if (astray.length > 0)
    tell(`has ${listed(astray, 'and')} in its order; the states are ${listed(states ?? [], 'and')}`)
  const undeclared = strict && !keeps ? args.filter((arg) => !fields.has(arg)) : []
  if (undeclared.length > 0)
    tell(`has the argument ${listed(undeclared, 'and')}, which this strict type does not declare`)
}

function tellSetting(name: string, value: Json, field: Field | undefined, tell: Tell): void {
  if (field === undefined) tell(`sets ${name}, which is not a field of this type`)
  else if (isComputed(field)) tell(`sets ${name}, which is computed`)
  else if (field.kind === 'back')
    tell(`sets ${name}, which is an inverse relation; set ${field.target}.${field.via} instead`)
  else if (value === null) {
    if (field.required) tell(`clears ${name}, which is required`)
  } else if (typeof value === 'string' && value.startsWith('$')) {
    if (value === '$now' && field.kind !== 'date' && field.kind !== 'datetime')
      tell(`sets ${name} to $now, but it is not a date or datetime`)
    else if (value === '$next' && field.kind !== 'enum') tell(`sets ${name} to $next, but it is not an enum`)
    else if (!DYNAMIC.test(value)) tell(`sets ${name} to ${value}; known are $now, $next, $computed and $args.name`)
  } else {
    const issues: Issue[] = []
    valueCheck(field)(value, issues)
    for (const issue of issues) tell(`sets ${issue.field}, which ${issue.message}`)
  }
}

const DYNAMIC = /^\$(?:now|next|computed|args\.[A-Za-z_][A-Za-z0-9_]{0,63})$/

function step(part: string, given: unknown, derived: string, tell: Tell): string {
  const name = given ?? derived
  if (typeof name !== 'string' || !STEP.test(name)) {
    tell(
      `has ${article(part)} that is not a valid name: a lower-case letter, then letters and digits, at most 64 characters`,
    )
    return derived
  }
  if (BUILT_IN_STEPS.has(name)) tell(`has the ${part} ${name}, which belongs to a built-in verb`)
  return name
}

function wordsOf(part: string, given: unknown, tell: Tell): readonly string[] | undefined {
  if (given === undefined) return undefined
  const words = typeof given === 'string' ? [given] : given
  if (Array.isArray(words) && words.every((word) => typeof word === 'string')) return words
  tell(`has a ${part} that is neither a name nor a list of names`)
  return undefined
}

function settingsOf(given: unknown, tell: Tell): JsonObject {
  if (isPlainObject(given)) return given as JsonObject
  tell('has a set that is not an object of fields and values')
  return {}
}
