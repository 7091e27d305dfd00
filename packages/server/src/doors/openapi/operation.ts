import type { Noun, Verb } from '@tildebase/nouns'
import type { Route } from '../call.ts'
import { type Answer, type Description, type Of, READ_ERRORS, WRITE_ERRORS } from '../describe/description.ts'
import { parameterOf, pathParameters } from '../describe/parameters.ts'
import type { Schema } from '../describe/schema.ts'
import { errors, type Responses } from './responses.ts'

/** The operations of a document, by path and method. */
export type Paths = Map<string, { [method: string]: Schema }>

/** A route as a document shows it: for one type, or for a verb of it, or on its own. */
export interface Shown {
  readonly route: Description & Pick<Route, 'method' | 'path' | 'repeats'> & { readonly mode?: Route['mode'] }
  readonly path: string
  readonly noun?: Noun | undefined
  readonly verb?: Verb | undefined
  /** The names of all types. */
  readonly types?: readonly string[]
  /** The group of operations, if it is not the domain of the type. */
  readonly tag?: string
}

/** Adds an operation, unless its path has one already. */
export function addOperation(paths: Paths, { route, path, noun, verb, types = [], tag }: Shown): void {
  const at = path.replace(/:(\w+)/g, '{$1}') || '/'
  const item = paths.get(at) ?? {}
  paths.set(at, item)
  const method = route.method.toLowerCase()
  if (item[method]) return
  const of = <T>(value: Of<T>): T => (value instanceof Function ? value(noun!, verb!) : value)
  const needs = needsText(route)
  const body = of(route.body ?? null)
  const parameters = [
    ...pathParameters(path, types),
    ...(route.params ?? []).map(parameterOf),
    ...(route.method === 'POST' && !route.repeats && route.mode ? [parameterOf('idempotencyKey')] : []),
  ]
  item[method] = {
    operationId: idOf(method, path),
    summary: summaryOf(route, noun, verb),
    description: `${of(route.description ?? `${route.summary}.`)} Needs ${needs}.`,
    tags: [tag ?? noun?.domain ?? 'tenant'],
    'x-scope': needs,
    ...(route.needs === 'no key' && { security: [{}] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: body }),
    responses: {
      ...errors(route.errors ?? (route.mode === 'read' ? READ_ERRORS : WRITE_ERRORS)),
      ...responsesOf(of(route.answers), route.summary),
    },
  }
}

/** The rights that a route needs, in words. */
export function needsText({ needs, also }: Description): string {
  return also === undefined ? needs : `${needs} and ${also}`
}

/** The paths of a document in order. */
export function sorted(paths: Paths): [string, Schema][] {
  return [...paths].toSorted(([a], [b]) => (a < b ? -1 : 1))
}

/** A route of every type says in its summary which one it is about. */
function summaryOf({ summary, description }: Description, noun?: Noun, verb?: Verb): string {
  if (verb) return `${noun!.name}: ${verb.name}`
  return noun && description instanceof Function
    ? `${noun.name}: ${summary.charAt(0).toLowerCase()}${summary.slice(1)}`
    : summary
}

function responsesOf(answers: { readonly [status: string]: Answer }, summary: string): Responses {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description = summary, headers = [], content, examples }]) => [
      status,
      {
        description,
        ...(headers.length > 0 && {
          headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
        }),
        ...(content && {
          content: Object.fromEntries(
            Object.entries(content).map(([type, schema]) => [type, { schema, ...(examples && { examples }) }]),
          ),
        }),
      },
    ]),
  )
}

function idOf(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter(Boolean)
  return [method, ...(words.length > 0 ? words : ['start'])].join('_')
}
