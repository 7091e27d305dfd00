import {
  isPlainObject,
  type Json,
  type JsonObject,
  matcher,
  noun,
  nounsOf,
  parseFilter,
  type Regex,
} from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { demand, type Grant } from '../grant/grant.ts'
import { ElementCount } from '../query/answer/elements.ts'
import { find, get } from '../query/answer/find.ts'
import { filterOf } from '../query/parameters/filter.ts'
import type { ReadContext } from '../query/reader.ts'
import { regexFault, regexTest } from '../query/words/regex.ts'
import type { Stored } from '../store/entities.ts'
import { notFound } from '../write/verb.ts'
import type { FlagCounts } from './flag-counts.ts'

/** The value of a flag for a user, and the reason. */
export interface Evaluation {
  readonly key: string
  readonly value: Json
  readonly enabled: boolean
  readonly reason: 'off' | 'rule' | 'rollout' | 'outside' | 'unknown_user'
  readonly variant?: string
}

const ON = ['Enabled', 'RolledOut']
/** What the rules of a flag are filters over: anything the caller knows. */
const CONTEXT = noun('Context', {})
const CONTEXTS = nounsOf([CONTEXT])

/** Evaluates a flag, named by id or key, for a user in a context. The same user always gets the same answer. */
export function evaluateFlag(
  engine: Engine,
  grant: Grant,
  reader: ReadContext,
  counts: FlagCounts,
  idOrKey: string,
  userId: string | null,
  context: JsonObject,
): Evaluation {
  const stored = flagOf(engine, grant, reader, idOrKey)
  const flag = JSON.parse(stored.data) as JsonObject
  const about = { ...context, ...(userId !== null && { userId }) }
  const who = userId ?? textOf(context.userId) ?? textOf(context.anonymousId) ?? textOf(context.sessionId)
  counts.add(stored.id)
  const evaluation = decide(engine, flag, who, ruleTest(engine, reader, about))
  return { key: String(flag.key), ...evaluation }
}

function decide(
  engine: Engine,
  flag: JsonObject,
  who: string | null,
  meets: (filter: JsonObject) => boolean,
): Omit<Evaluation, 'key'> {
  const off = typedValue(flag, flag.defaultValue)
  if (!ON.includes(String(flag.status))) return { value: off, enabled: false, reason: 'off' }
  const place = who === null ? null : bucket(engine, `${flag.key}:${who}`)
  const rule = rulesOf(flag).find(({ filter }) => meets(filter))
  if (rule) {
    const inside = reaches(rule.percentage, place)
    return inside ? { ...chosen(engine, flag, who, rule), enabled: true, reason: 'rule' } : missed(off, place)
  }
  const percentage = flag.status === 'RolledOut' ? 100 : (numberOf(flag.rolloutPercentage) ?? 100)
  return reaches(percentage, place)
    ? { ...chosen(engine, flag, who, {}), enabled: true, reason: 'rollout' }
    : missed(off, place)
}

interface Rule {
  readonly filter: JsonObject
  readonly percentage: number
  readonly value?: Json
  readonly variant?: Json
}

interface Variant {
  readonly name: string
  readonly value: Json
  readonly weight: number
}

/** `[{"filter": {"country": "SE"}, "value": true, "percentage": 50}]`. What has another form is passed over. */
function rulesOf(flag: JsonObject): Rule[] {
  const rules = Array.isArray(flag.targetingRules) ? flag.targetingRules : []
  return rules.flatMap((rule) => {
    if (!isPlainObject(rule) || !isPlainObject(rule.filter)) return []
    return [{ ...rule, filter: rule.filter as JsonObject, percentage: numberOf(rule.percentage) ?? 100 }]
  })
}

/** `[{"name": "blue", "value": "#00f", "weight": 1}]`. */
function variantsOf(flag: JsonObject): Variant[] {
  const variants = Array.isArray(flag.variants) ? flag.variants : []
  return variants.flatMap((variant) => {
    if (!isPlainObject(variant)) return []
    const name = textOf(variant.name) ?? textOf(variant.key)
    const weight = Math.max(numberOf(variant.weight) ?? 1, 0)
    return name === null ? [] : [{ name, value: (variant.value as Json) ?? name, weight }]
  })
}

/** The value of a rule, else the variant that the user falls on by weight, else what an enabled flag says. */
function chosen(engine: Engine, flag: JsonObject, who: string | null, rule: Partial<Rule>) {
  if (rule.value !== undefined) return { value: rule.value }
  const variants = variantsOf(flag)
  const named = variants.find(({ name }) => name === rule.variant)
  if (named) return { value: named.value, variant: named.name }
  const total = variants.reduce((sum, { weight }) => sum + weight, 0)
  let left = ((who === null ? 0 : bucket(engine, `${flag.key}:variant:${who}`)) / 100) * total
  for (const { name, value, weight } of variants) {
    if (left < weight) return { value, variant: name }
    left -= weight
  }
  return { value: flag.type === undefined || flag.type === 'Boolean' ? true : typedValue(flag, flag.defaultValue) }
}

function missed(value: Json, place: number | null): Omit<Evaluation, 'key'> {
  return { value, enabled: false, reason: place === null ? 'unknown_user' : 'outside' }
}

/** An unknown user gets only values that apply to all users. */
function reaches(percentage: number, place: number | null): boolean {
  return percentage >= 100 || (place !== null && place < percentage)
}

/** A place from 0 to 100 that a string always has, and that other texts share evenly. */
function bucket(engine: Engine, text: string): number {
  const [a, b, c, d] = engine.ports.seal.sha256(text)
  return ((a! * 2 ** 24 + b! * 2 ** 16 + c! * 2 ** 8 + d!) / 2 ** 32) * 100
}

/** Tests the rules of a flag in a context. They share the time of the request, and the elements of lists that they look at. */
function ruleTest(engine: Engine, { budget }: ReadContext, about: JsonObject): (filter: JsonObject) => boolean {
  const check = () => budget.checkTime()
  const regex: Regex = (pattern, flags) => regexTest(pattern, flags, check)
  const elements = new ElementCount(check)
  return (filter) => {
    check()
    const parsed = parseFilter(filter, CONTEXT, CONTEXTS, engine.nextTime(), { regex: regexFault })
    return matcher(parsed, () => [], regex, elements.look)(about)
  }
}

/** The text of `defaultValue`, read by the type of the flag. */
function typedValue(flag: JsonObject, text: Json | undefined): Json {
  const given = text ?? null
  if (flag.type === 'String') return given
  if (flag.type === 'Number') return given === null ? null : Number(given)
  if (flag.type === 'JSON' && typeof given === 'string') {
    try {
      return JSON.parse(given)
    } catch {
      return given
    }
  }
  return flag.type === 'JSON' ? given : given === 'true'
}

function flagOf(engine: Engine, grant: Grant, reader: ReadContext, idOrKey: string): Stored {
  const noun = engine.noun('FeatureFlag')
  demand(grant, 'read', noun)
  const filter = filterOf(engine, noun, { key: idOrKey })
  const found =
    get(reader, noun.name, idOrKey) ?? find(reader, { type: noun.name, filter, limit: 1, total: false }).results[0]
  if (found) return found
  throw notFound(noun.name, idOrKey)
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}
