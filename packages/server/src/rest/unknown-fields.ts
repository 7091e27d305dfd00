import { isPlainObject, META_FIELDS, type Noun, nearest, Problem, quoted, resolvePath } from '@tildebase/nouns'
import { type Call, flagParam, type Query, type Route, textParam } from '../call.ts'
import type { Reply } from '../reply.ts'
import { isField } from './params.ts'

/** A name in a request that is neither declared nor stored in any entity, and the declared one that looks most like it. */
interface UnknownField {
  readonly field: string
  readonly nearest: string | null
}

export const WARNINGS = 'x-tilde-warnings'

const MOST = 20
const MEASURES = ['group', 'sum', 'avg', 'min', 'max']
/** What the service takes beside the fields of a type. */
const BESIDE: { readonly [type: string]: readonly string[] } = {
  Webhook: ['secret', 'redirect'],
  ApiKey: ['secret'],
}

/** The same routes, whose answers warn of names that are nowhere known; with `strict` they refuse them. */
export function warning<R extends Route>(routes: readonly R[]): R[] {
  return routes.map((route) => {
    const inTurns = route.mode === 'read' && route.inTurns ? { inTurns: warningHandle(route, route.inTurns) } : {}
    return { ...route, handle: warningHandle(route, route.handle), ...inTurns } as R
  })
}

// biome-ignore lint/suspicious/noExplicitAny: the handle of a route takes what routes of its mode are given.
function warningHandle(route: Route, handle: (...args: any[]) => Reply | Promise<Reply>) {
  return (call: Call, ...rest: unknown[]) => {
    const unknown = unknownFields(call, route)
    if (unknown.length === 0) return handle(call, ...rest)
    if (flagParam(call.query, 'strict')) throw refusal(call, unknown)
    const reply = handle(call, ...rest)
    return reply instanceof Promise ? reply.then((late) => warned(late, unknown)) : warned(reply, unknown)
  }
}

function warned(reply: Reply, unknown: readonly UnknownField[]): Reply {
  // A header holds ASCII alone.
  const text = JSON.stringify(unknown).replace(
    /[^ -~]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return { ...reply, headers: { ...reply.headers, [WARNINGS]: text } }
}

function refusal({ request, params, read }: Call, unknown: readonly UnknownField[]): Problem {
  const type = read.noun(params.type!).name
  const details = unknown.map(({ field, nearest }) => ({
    field,
    message: `is not a field of ${type}${nearest === null ? '' : `; did you mean ${nearest}?`}`,
  }))
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const message = `With strict, only known fields are taken. ${details.map(({ field, message }) => `${field} ${message}`).join('; ')}`
  return new Problem(isRead ? 'invalid_parameter' : 'validation_error', message, {
    type,
    field: unknown[0]!.field,
    details,
  })
}

const NONE: readonly UnknownField[] = []

function unknownFields(call: Call, route: Route): readonly UnknownField[] {
  if (call.query.size === 0 && call.body === undefined) return NONE
  const noun = call.read.noun(call.params.type!)
  const names = new Set<string>()
  // Nearly all names are declared: those are left out at once.
  for (const name of queryNames(call, route, noun)) if (!Object.hasOwn(noun.fields, name)) names.add(name)
  for (const name of bodyNames(call, route, noun)) names.add(name)
  const types = unknownTypes(call, route, noun)
  if (names.size === 0 && types.length === 0) return NONE
  const unknown = [...names].flatMap((name) => unknownPath(call, noun, name) ?? [])
  return [...unknown, ...types].slice(0, MOST)
}

/** What a path ends at, if its type neither declares nor holds such a field. */
function unknownPath({ read }: Call, noun: Noun, text: string): UnknownField | null {
  const path = resolvePath(text, noun, read.nouns)
  if ('fault' in path || path.field.startsWith('$')) return null
  const last = path.hops.at(-1)
  const owner = last ? read.noun(last.target) : noun
  if (Object.hasOwn(owner.fields, path.field) || !read.may('read', owner)) return null
  if (read.isStored(owner, path.field)) return null
  const [near] = nearest(path.field, [...Object.keys(owner.fields), ...Object.keys(META_FIELDS)], 1)
  const before = path.hops.map(({ field }) => `${field}.`).join('')
  return { field: quoted(text), nearest: near === undefined ? null : `${before}${near}` }
}

/** The types in the patterns of a webhook that do not exist; they may be declared later. */
function unknownTypes({ body, read }: Call, { method }: Route, noun: Noun): UnknownField[] {
  if (noun.name !== 'Webhook' || method === 'GET' || !isPlainObject(body) || !Array.isArray(body.events)) return []
  const names = read.nouns.all.map(({ name }) => name)
  const types = body.events.map((event) => String(event).split('.')[0]!)
  return types
    .filter((type) => type !== '*' && !names.some((name) => name.toLowerCase() === type.toLowerCase()))
    .map((type) => ({ field: quoted(`events: ${type}`), nearest: nearest(type, names, 1)[0] ?? null }))
}

/** The names that a query asks for. What cannot be read is refused by whoever answers it. */
function* queryNames({ query }: Call, route: Route, noun: Noun): Generator<string> {
  const isList = route.method === 'GET' && !route.path.includes(':id')
  const isGroups = route.path.endsWith('/aggregate')
  if (isList) {
    for (const name of query.keys()) if (isField(noun, name) && !(isGroups && MEASURES.includes(name))) yield name
    yield* filterNames(jsonIn(query, 'filter'))
    yield* sortNames(jsonIn(query, 'sort'))
  }
  if (isGroups) for (const name of MEASURES) yield* groupNames(query, name)
  if (route.method === 'GET') yield* listed(textParam(query, 'fields'))
}

function* filterNames(filter: unknown): Generator<string> {
  if (Array.isArray(filter)) for (const part of filter) yield* filterNames(part)
  if (!isPlainObject(filter)) return
  for (const [key, value] of Object.entries(filter)) {
    if (key === '$and' || key === '$or') yield* filterNames(value)
    else if (!key.startsWith('$')) yield key
  }
}

function* sortNames(sort: unknown): Generator<string> {
  if (isPlainObject(sort)) yield* Object.keys(sort)
  else if (typeof sort === 'string') for (const name of listed(sort)) yield name.replace(/^[+-]/, '')
}

function* groupNames(query: Query, name: string): Generator<string> {
  for (const text of listed(textParam(query, name))) yield name === 'group' ? text.replace(/:\w+$/, '') : text
}

function* bodyNames({ body, params, query }: Call, route: Route, noun: Noun): Generator<string> {
  if (route.method === 'GET' || route.method === 'DELETE' || !isPlainObject(body) || query.has('propose')) return
  const verb = params.verb === undefined ? undefined : noun.verbs[params.verb]
  // What a verb takes beside fields is its own business.
  if (params.verb !== undefined && (verb === undefined || params.verb === 'rollback' || verb.keeps)) return
  for (const name of Object.keys(body)) {
    const isKnown = Object.hasOwn(noun.fields, name) || Object.hasOwn(META_FIELDS, name) || name.startsWith('$')
    if (!isKnown && !verb?.args?.includes(name) && !BESIDE[noun.name]?.includes(name)) yield name
  }
}

function listed(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
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
