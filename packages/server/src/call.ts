import { type Lens, Problem } from '@tildebase/nouns'
import type { Engine, Grant, WriteQueue } from '@tildebase/tenant'
import type { HttpRequest } from './http.ts'
import type { Routes } from './routes.ts'

const MAX_DEPTH = 64

/** One request inside a tenant, with everything its handler needs. */
export interface Call {
  readonly tenant: Engine
  readonly commits: WriteQueue
  readonly grant: Grant
  readonly ask: HttpRequest
  /** All routes there are: a batch finds those of its operations, OpenAPI describes them. */
  readonly routes: Routes
  readonly lens: Lens
  /** The named segments of the route. */
  readonly params: { readonly [name: string]: string }
  readonly query: Query
  /** The body as JSON; undefined when there is none. */
  readonly body: unknown
  /** `$context` of the entities in the answer: the tenant's namespace on the host that was asked. */
  readonly context: string
  readonly requestId: string
  /** What everything written by this request shares, when it writes more than one thing. */
  readonly correlation: string | null
  /** How many bytes an import may have, after inflation. */
  readonly importLimit: number
}

/** Query parameters: a text each, or JSON where a batch gives them so. */
export type Query = ReadonlyMap<string, unknown>

/** Reads the query part of a URL. The first of two equal names counts. */
export function parseQuery(text: string): Query {
  const query = new Map<string, string>()
  if (text === '') return query
  for (const [name, value] of new URLSearchParams(text)) if (!query.has(name)) query.set(name, withPlus(value))
  return query
}

/** A time whose `+02:00` was not escaped, which a query reads as a space. */
function withPlus(value: string): string {
  return value.includes(' ') ? value.replace(/^(\d{4}-\d\d-\d\dT[\d:.]+) (\d\d:?\d\d)$/, '$1+$2') : value
}

/** Reads a body as JSON, bounded in depth. */
export function parseBody(bytes: Uint8Array | null): unknown {
  if (bytes === null || bytes.length === 0) return undefined
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Problem('invalid_json', 'The body is not UTF-8 text.')
  }
  return parseJson(text, 'The body')
}

/** Reads a text of JSON, bounded in depth. */
export function parseJson(text: string, what = 'The JSON'): unknown {
  if (depthOf(text) > MAX_DEPTH) {
    throw new Problem('too_deep', `${what} is nested deeper than ${MAX_DEPTH} levels.`, { limit: MAX_DEPTH })
  }
  try {
    return JSON.parse(text)
  } catch (reason) {
    throw new Problem('invalid_json', `${what} is not valid JSON: ${(reason as Error).message.slice(0, 200)}`)
  }
}

/** The text of a query parameter, or undefined. */
export function textParam(query: Query, name: string): string | undefined {
  const value = query.get(name)
  return value === undefined || value === null ? undefined : typeof value === 'string' ? value : JSON.stringify(value)
}

/** Whether a flag is on: `dryRun=true`. Anything but true and false is a mistake worth telling. */
export function flagParam(query: Query, name: string, otherwise = false): boolean {
  const text = textParam(query, name)
  if (text === undefined) return otherwise
  if (text === 'true' || text === '1' || text === '') return true
  if (text === 'false' || text === '0') return false
  throw new Problem('invalid_parameter', `${name} is true or false, not ${text.slice(0, 40)}.`, { field: name })
}

/** How deep brackets nest in a JSON text, without parsing it: a deep one would end in a stack overflow. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 34) {
      for (i++; i < text.length && text.charCodeAt(i) !== 34; i++) if (text.charCodeAt(i) === 92) i++
    } else if (code === 123 || code === 91) {
      if (++depth > deepest) deepest = depth
    } else if (code === 125 || code === 93) depth--
  }
  return deepest
}
