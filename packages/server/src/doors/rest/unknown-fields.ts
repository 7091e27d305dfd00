import { isPlainObject, type Noun, nearest, Problem, quoted, type Verb } from '@tildebase/nouns'
import type { Steps, Stepwise } from '@tildebase/tenant'
import {
  bodyNames,
  EVENT_RECORD,
  filterNames,
  isSteps,
  MOST_UNKNOWN,
  sortNames,
  type UnknownField,
  unknownMembers,
} from '@tildebase/tenant/internal'
import { type Call, flagParam, listParam, type Query, type Route } from '../call.ts'
import { type Reply, WARNINGS } from '../reply.ts'
import { ignored, ignoredAmong, serviceNamesIn } from './ignored-fields.ts'
import { asOfParam, isField, PARAMETER_NAMES } from './params.ts'
import { described, type Place, parametersOf } from './route-parameters.ts'

const MEASURES = ['group', 'sum', 'avg', 'min', 'max']

/** The same routes, whose answers warn of names that are nowhere known; with `strict` they refuse them. */
export function warning<R extends Route>(routes: readonly R[]): R[] {
  return routes.map(described).map((route) => ({ ...route, handle: warningHandle(route, route.handle) }) as R)
}

/** The same handle of a route about a type, likewise. */
export function warningHandle<H extends Handle>(route: Place, handle: H): H {
  const parameters = parametersOf(route)
  const unknownIn = (call: Call) => {
    const unknown = unknownFields(call, route, parameters)
    if (unknown.length === 0 || !flagParam(call.query, 'strict')) return unknown
    throw refusal(typeOf(call), unknown, isRead(call) ? 'invalid_parameter' : 'validation_error')
  }
  return withWarnings(handle, { unknownIn, explained: withHint, ownIn: (call) => ownNames(call, route) })
}

/** The names in the body of a write that only the service sets. */
function ownNames(call: Call, route: Place): readonly string[] {
  if (route.method === 'GET' || !isPlainObject(call.body)) return []
  const noun = call.read.noun(call.params.type!)
  return verbIn(call, noun)?.keeps ? [] : serviceNamesIn(call.body, noun)
}

/** The same routes, whose answers warn of parameters that they do not take; with `strict` they refuse them. */
export function warningOfParameters<R extends Route>(routes: readonly R[]): R[] {
  return routes.map(described).map((route) => {
    const parameters = parametersOf(route)
    const unknownIn = ({ query }: Call) => {
      const unknown = query.size === 0 ? NONE : unknownAmong([...query.keys()], parameters)
      if (unknown.length === 0 || !flagParam(query, 'strict')) return unknown
      throw refusal(null, unknown, 'invalid_parameter')
    }
    const inTurns = route.mode === 'write' ? route.inTurns : undefined
    const warned = { ...route, handle: withWarnings(route.handle, { unknownIn }) } as R
    return inTurns === undefined
      ? warned
      : { ...warned, inTurns: (call: Call) => warnedLater(inTurns, call, unknownIn) }
  })
}

function warnedLater(
  inTurns: (call: Call) => Promise<Reply> | null,
  call: Call,
  unknownIn: Warns['unknownIn'],
): Promise<Reply> | null {
  const unknown = unknownIn(call)
  return inTurns(call)?.then((reply) => warned(reply, unknown)) ?? null
}

/** The same, also of members that their body does not have. */
export function warningOfNames<R extends Route>(routes: readonly R[]): R[] {
  return warningOfParameters(routes).map((route) => {
    const known = membersOf(route)
    if (known === null) return route
    const unknownIn = ({ body, query }: Call) => unknownMembers(body, known, { isStrict: flagParam(query, 'strict') })
    return { ...route, handle: withWarnings(route.handle, { unknownIn }) } as R
  })
}

function unknownAmong(names: readonly string[], known: readonly string[]): UnknownField[] {
  return names
    .filter((name) => !known.includes(name))
    .map((name) => {
      if (PARAMETER_NAMES.includes(name)) return ignored(name)
      return { field: quoted(name), nearest: nearest(name, known, 1)[0] ?? null }
    })
}

function isRead({ request: { method } }: Call): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** The members of the body that a route describes; null if it can have any. */
function membersOf({ body }: Route): readonly string[] | null {
  if (typeof body === 'function') return null
  const { properties, additionalProperties } = body?.content['application/json']?.schema ?? {}
  return isPlainObject(properties) && additionalProperties === undefined ? Object.keys(properties) : null
}

// biome-ignore lint/suspicious/noExplicitAny: the handle of a route takes what routes of its mode are given.
type Handle = (call: Call, ...rest: any[]) => Stepwise<Reply> | Promise<Reply>

/** What the answers of a route warn of. */
interface Warns {
  /** The names that nothing has, which are known before the request runs. */
  readonly unknownIn: (call: Call) => readonly UnknownField[]
  /** The names in the body that the service sets: those with a value that was not stored are reported. */
  readonly ownIn?: (call: Call) => readonly string[]
  /** A problem of the request, with the unknown names. */
  readonly explained?: (reason: unknown, call: Call, unknown: readonly UnknownField[]) => unknown
}

function withWarnings<H extends Handle>(handle: H, { unknownIn, ownIn, explained = same }: Warns): H {
  const warns = (call: Call, ...rest: unknown[]) => {
    const unknown = unknownIn(call)
    const own = ownIn?.(call) ?? NO_NAMES
    if (unknown.length === 0 && own.length === 0) return handle(call, ...rest)
    const done = (reply: Reply) => {
      return warned(reply, own.length === 0 ? unknown : [...unknown, ...ignoredAmong(own, call.body as never, reply)])
    }
    const failed = (reason: unknown): never => {
      throw unknown.length === 0 ? reason : explained(reason, call, unknown)
    }
    try {
      const reply = handle(call, ...rest)
      if (reply instanceof Promise) return reply.then(done, failed)
      return isSteps(reply) ? warnedInSteps(reply, done, failed) : done(reply)
    } catch (reason) {
      return failed(reason)
    }
  }
  return warns as H
}

const NO_NAMES: readonly string[] = []

function same<T>(reason: T): T {
  return reason
}

function* warnedInSteps(
  steps: Steps<Reply>,
  done: (reply: Reply) => Reply,
  failed: (reason: unknown) => never,
): Steps<Reply> {
  try {
    return done(yield* steps)
  } catch (reason) {
    return failed(reason)
  }
}

/** A refused entity with an unknown field: perhaps a required field whose name has a typing error. */
function withHint(reason: unknown, call: Call, unknown: readonly UnknownField[]): unknown {
  if (!(reason instanceof Problem) || reason.code !== 'validation_error') return reason
  const inBody = isPlainObject(call.body) ? call.body : {}
  const fields = unknown.filter(({ field }) => Object.hasOwn(inBody, field))
  if (fields.length === 0) return reason
  const hints = detailsOf(typeOf(call), fields).map(({ field, message }) => `${field} ${message}`)
  return new Problem(reason.code, `${reason.message}. ${hints.join('; ')}`, reason.about)
}

function typeOf({ params, read }: Call): string {
  return read.noun(params.type!).name
}

/** An answer that warns of names. */
export function warned(reply: Reply, unknown: readonly UnknownField[]): Reply {
  if (unknown.length === 0) return reply
  const others = JSON.parse(reply.headers?.[WARNINGS] ?? '[]') as readonly unknown[]
  // A header holds ASCII alone.
  const text = JSON.stringify([...unknown, ...others]).replace(
    /[^ -~]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return { ...reply, headers: { ...reply.headers, [WARNINGS]: text } }
}

/** The problem of a strict request that names fields which a type does not have, or parameters that a path does not take. */
export function refusal(
  type: string | null,
  unknown: readonly UnknownField[],
  code: 'validation_error' | 'invalid_parameter' = 'validation_error',
): Problem {
  const details = detailsOf(type, unknown)
  const list = details.map(({ field, message }) => `${field} ${message}`).join('; ')
  return new Problem(code, `With strict, only known ${type === null ? 'names' : 'fields'} are allowed. ${list}`, {
    ...(type !== null && { type }),
    field: unknown[0]!.field,
    details,
  })
}

function detailsOf(type: string | null, unknown: readonly UnknownField[]) {
  return unknown.map(({ field, nearest }) => {
    const what = type === null || PARAMETER_NAMES.includes(field) ? 'taken here' : `a field of ${type}`
    return { field, message: `is not ${what}${nearest === null ? '' : `; did you mean ${nearest}?`}` }
  })
}

const NONE: readonly UnknownField[] = []

function unknownFields(call: Call, route: Place, parameters: readonly string[]): readonly UnknownField[] {
  const { query, body } = call
  if (query.size === 0 && body === undefined) return NONE
  const noun = call.read.noun(call.params.type!)
  const names = namesInBody(call, route, noun)
  const others = route.method === 'GET' || !isPlainObject(body) ? NONE : (OF_TYPE[noun.name]?.(call, body) ?? NONE)
  // Nearly all requests that write have no parameters, and name declared fields alone.
  if (query.size === 0 && names.length === 0) return others
  const sought = new Set(names)
  for (const name of queryNames(call, route, noun)) if (!Object.hasOwn(noun.fields, name)) sought.add(name)
  const fields = sought.size === 0 ? NONE : unknownAmongFields(call, route, noun, sought)
  const asked = [...query.keys()].filter((name) => !takesFields(route) || !isField(noun, name))
  return [...fields, ...unknownAmong(asked, parameters), ...others].slice(0, MOST_UNKNOWN)
}

function unknownAmongFields(call: Call, route: Place, noun: Noun, names: ReadonlySet<string>): readonly UnknownField[] {
  const asOf = route.method === 'GET' ? asOfParam(call, noun) : null
  const unknown = call.read.questions.unknownFields(noun, names, flagParam(call.query, 'strict'), asOf)
  return unknown.map((one) => likeParameter(call, one))
}

/** An unknown field of a list that looks like one of the parameters: `asof`. */
function likeParameter({ query }: Call, unknown: UnknownField): UnknownField {
  // A field of the filter may have the name of a parameter.
  const isParameter = query.has(unknown.field) && !PARAMETER_NAMES.includes(unknown.field)
  if (unknown.nearest !== null || !isParameter) return unknown
  return { ...unknown, nearest: nearest(unknown.field, PARAMETER_NAMES, 1)[0] ?? null }
}

/** Whether any parameter of a request is a field. */
function takesFields({ method, path }: Place): boolean {
  return method === 'GET' && !path.includes(':id')
}

/** What else a body of these types names. */
const OF_TYPE: {
  readonly [type: string]: (call: Call, body: { readonly [name: string]: unknown }) => readonly UnknownField[]
} = {
  ApiKey: ({ read }, { filter }) => (isPlainObject(filter) ? unknownInRows(read, filter) : NONE),
  Webhook: ({ read }, { events, filter }) => [
    ...unknownTypes(read, 'events', events),
    ...unknownInRecords(nounsIn(read, events), read, filterNamesOf(filter)),
  ],
  Workflow: ({ read }, { triggerEvent, filter }) => [
    ...unknownTypes(read, 'triggerEvent', triggerEvent),
    ...inFilter(unknownInAll(read, nounsIn(read, triggerEvent), filterNamesOf(filter))),
  ],
}

/** The types in patterns of events that do not exist; they may be declared later. */
function unknownTypes({ nouns }: Call['read'], field: string, patterns: unknown): readonly UnknownField[] {
  const names = nouns.all.map(({ name }) => name)
  return typesIn(patterns)
    .filter((type) => type !== '*' && type !== '' && nouns.named(type) === undefined)
    .map((type) => ({ field: quoted(`${field}: ${type}`), nearest: nearest(type, names, 1)[0] ?? null }))
}

/** More patterns than a webhook takes are refused, and need no warning. */
const MOST_PATTERNS = 100

/** The types of patterns of events: `Contact` of `Contact.created`. */
function typesIn(patterns: unknown): string[] {
  const some = [patterns ?? []].flat().slice(0, MOST_PATTERNS)
  return some.flatMap((pattern) => (typeof pattern === 'string' ? [pattern.split('.')[0]!] : []))
}

/** The types that patterns of events name, as far as the caller reads them; none for a pattern of all types, whose entities may have any field. */
function nounsIn(read: Call['read'], patterns: unknown): readonly Noun[] {
  const types = typesIn(patterns).map((type) => read.nouns.named(type))
  return types.includes(undefined) ? [] : (types as Noun[]).filter((one) => read.may('read', one))
}

function filterNamesOf(filter: unknown): readonly string[] {
  return isPlainObject(filter) ? [...filterNames(filter)] : []
}

/** The names in a filter of events that no event has: it lets none pass. */
function unknownInRecords(nouns: readonly Noun[], read: Call['read'], names: readonly string[]): UnknownField[] {
  const ofData = names.filter((name) => name.startsWith('data.')).map((name) => name.split('.')[1]!)
  const ofRecord = names.filter((name) => !EVENT_RECORD.includes(name.split('.')[0]!))
  const inData = unknownInAll(read, nouns, ofData).map(({ field, nearest }) => ({
    field: `data.${field}`,
    nearest: nearest === null ? null : `data.${nearest}`,
  }))
  const inRecord = ofRecord.map((name) => {
    const isOfData = nouns.some(({ fields }) => Object.hasOwn(fields, name))
    return { field: name, nearest: isOfData ? `data.${name}` : (nearest(name, EVENT_RECORD, 1)[0] ?? null) }
  })
  return inFilter([...inData, ...inRecord])
}

function inFilter(unknown: readonly UnknownField[]): UnknownField[] {
  return unknown.map(({ field, nearest }) => ({ field: quoted(`filter.${field}`), nearest }))
}

/** The names that none of these types has. */
function unknownInAll(read: Call['read'], nouns: readonly Noun[], names: readonly string[]): readonly UnknownField[] {
  if (nouns.length === 0 || names.length === 0) return NONE
  const [first, ...others] = nouns.map((noun) => {
    const undeclared = names.filter((name) => !Object.hasOwn(noun.fields, name))
    return read.questions.unknownFields(noun, new Set(undeclared))
  })
  return first!.filter(({ field }) => others.every((unknown) => unknown.some((one) => one.field === field)))
}

/** The names in row filters by type that no entity of the type has: such a filter hides all of them. */
export function unknownInRows(read: Call['read'], rows: object | null): readonly UnknownField[] {
  const { questions } = read
  return Object.entries(rows ?? {}).flatMap(([type, filter]) => {
    const noun = read.nouns.get(type)
    const names =
      noun && read.may('read', noun) ? [...filterNames(filter)].filter((name) => !Object.hasOwn(noun.fields, name)) : []
    const unknown = names.length === 0 ? [] : questions.unknownFields(noun!, names)
    return unknown.map(({ field, nearest }) => ({ field: `filter.${type}.${field}`, nearest }))
  })
}

/** The field names of a query. Invalid parameters are refused by the handler. */
function queryNames({ query }: Call, route: Place, noun: Noun): string[] {
  if (route.method !== 'GET') return []
  const isGroups = route.path.endsWith('/aggregate')
  const names: string[] = []
  if (takesFields(route)) {
    for (const name of query.keys()) if (isField(noun, name) && !(isGroups && MEASURES.includes(name))) names.push(name)
    if (query.has('filter')) names.push(...filterNames(jsonIn(query, 'filter')))
    if (query.has('sort')) names.push(...sortNames(jsonIn(query, 'sort')))
  }
  if (isGroups) names.push(...MEASURES.flatMap((name) => groupNames(query, name)))
  if (query.has('fields')) names.push(...listParam(query, 'fields'))
  return names
}

function groupNames(query: Query, name: string): string[] {
  const names = listParam(query, name)
  return name === 'group' ? names.map((text) => text.replace(/:\w+$/, '')) : names
}

/** The fields that parts of a body give to entities of their types, and that nothing has; with `strict` they are refused. */
export function unknownInParts(
  { read, query }: Call,
  parts: readonly { readonly [name: string]: unknown }[],
): UnknownField[] {
  const sought = new Map<Noun, Set<string>>()
  for (const { type, verb, data } of parts) {
    const noun = typeof type === 'string' ? read.nouns.get(type) : undefined
    const names = noun === undefined ? [] : bodyNames(noun, verbNamed(noun, verb), data)
    if (names.length === 0) continue
    const known = sought.get(noun!) ?? new Set<string>()
    sought.set(noun!, known)
    for (const name of names) known.add(name)
  }
  const isStrict = flagParam(query, 'strict')
  return [...sought].flatMap(([noun, names]) => {
    const unknown = read.questions.unknownFields(noun, names, isStrict)
    if (isStrict && unknown.length > 0) throw refusal(noun.name, unknown)
    return unknown
  })
}

/** What a verb takes in addition to fields is its own business. */
function namesInBody({ body, params }: Call, route: Place, noun: Noun): readonly string[] {
  if (route.method === 'GET' || route.method === 'DELETE') return []
  const verb = verbIn({ params }, noun)
  return params.verb !== undefined && verb === undefined ? [] : bodyNames(noun, verb, body)
}

function verbIn({ params }: Pick<Call, 'params'>, noun: Noun): Verb | undefined {
  return verbNamed(noun, params.verb)
}

function verbNamed({ verbs }: Noun, name: unknown): Verb | undefined {
  return typeof name === 'string' && Object.hasOwn(verbs, name) ? verbs[name] : undefined
}

function jsonIn(query: Query, name: string): unknown {
  const given = query.get(name)
  if (typeof given !== 'string' || !/^\s*[[{]/.test(given)) return given
  try {
    return JSON.parse(given)
  } catch {
    return undefined
  }
}
