import { didYouMean } from '../nearest.ts'
import type { Field, JsonObject, Timer, Verb } from '../noun.ts'
import { isPlainObject } from '../value/json.ts'
import { listed } from './english.ts'
import type { Tell } from './parse-field.ts'

const PARTS = ['at', 'from', 'when', 'run']
const NAME = /^[A-Za-z][A-Za-z0-9]{0,63}$/
const MOST = 20

/** The properties of a type that its timers refer to. */
export interface TimerContext {
  readonly fields: ReadonlyMap<string, Field>
  readonly verbs: ReadonlyMap<string, Verb>
  readonly states: readonly string[] | null
}

/** Reads `$timers: {<name>: {at, from?, when?, run}}`. Reports every error. */
export function parseTimers(given: unknown, context: TimerContext, tell: Tell): Map<string, Timer> {
  const timers = new Map<string, Timer>()
  if (given === undefined) return timers
  if (!isPlainObject(given)) {
    tell('must be an object of timers, such as {"remind": {"at": "reminderAt", "run": "remind"}}')
    return timers
  }
  const entries = Object.entries(given)
  if (entries.length > MOST) tell(`has ${entries.length} timers; at most ${MOST} are allowed`)
  for (const [name, notation] of entries) {
    const timer = parseTimer(name, notation, context, (message) => tell(`${name} ${message}`))
    if (timer) timers.set(name, timer)
  }
  return timers
}

function parseTimer(name: string, given: unknown, context: TimerContext, tell: Tell): Timer | null {
  if (!NAME.test(name)) tell('is not a valid name: letters and digits, at most 64 characters')
  if (!isPlainObject(given)) {
    tell('must be an object with at and run')
    return null
  }
  for (const part of Object.keys(given)) {
    if (!PARTS.includes(part)) tell(`has ${part}; a timer takes ${listed(PARTS)}${didYouMean(part, PARTS)}`)
  }
  const { at, run, when } = given
  const from = statesOf(given.from, context.states, tell)
  tellTime(at, context.fields, tell)
  tellVerb(run, context.verbs, tell)
  if (when !== undefined && !isPlainObject(when)) tell('has a when that is not a filter object')
  return {
    name,
    at: String(at),
    run: String(run),
    ...(from && { from }),
    ...(when !== undefined && { when: when as JsonObject }),
  }
}

function tellTime(at: unknown, fields: TimerContext['fields'], tell: Tell): void {
  const field = typeof at === 'string' ? fields.get(at) : undefined
  const isTime = (field?.kind === 'datetime' || field?.kind === 'date') && !field.list
  if (!isTime) tell('must name a datetime field in at')
}

function tellVerb(run: unknown, verbs: TimerContext['verbs'], tell: Tell): void {
  if (typeof run === 'string' && verbs.has(run)) return
  const known = verbs.size > 0 ? `: ${listed([...verbs.keys()])}` : ''
  tell(`must name a verb of this type in run${known}`)
}

function statesOf(given: unknown, states: readonly string[] | null, tell: Tell): readonly string[] | undefined {
  if (given === undefined || given === '*') return undefined
  const list: readonly unknown[] = Array.isArray(given) ? given : [given]
  const unknown = list.filter((state) => typeof state !== 'string' || !states?.includes(state))
  if (unknown.length > 0 || list.length === 0) {
    tell(states ? `must name states in from: ${listed(states)}` : 'has from, but the type has no state field')
  }
  return list.map(String)
}
