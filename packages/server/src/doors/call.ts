import {
  hasLoneSurrogate,
  type Lens,
  MAX_DEPTH,
  MOST_NAMES,
  MOST_VALUES,
  type Nouns,
  Problem,
  tooMuch,
} from '@tildebase/nouns'
import type { Budget, Grant, RequestContext, Stepwise, Tenant, TenantReader, TenantWriter } from '@tildebase/tenant'
import { listedNames } from '@tildebase/tenant/internal'
import type { Description } from './describe/description.ts'
import type { HttpRequest, HttpResponse, MaybePromise } from './http.ts'
import type { IdentityPorts } from './identity/ports.ts'
import type { Reply } from './reply.ts'
import type { Sender } from './tenant-call.ts'

/** What a request to another tenant asks for, next to its path. */
export interface OtherPart {
  readonly query?: string
  /** The bytes of a file. */
  readonly range?: string
}

/** One request inside a tenant, with everything its handler needs. */
export interface Call {
  readonly tenant: Tenant
  readonly grant: Grant
  readonly sender: Sender
  /** What the host offers to sign people in with. */
  readonly identity: IdentityPorts
  readonly budget: Budget
  /** A budget for each part of long work that yields between its parts. */
  readonly newBudget: () => Budget
  /** The tenant as the key may read it. */
  readonly read: TenantReader
  readonly request: HttpRequest
  /** All routes: a batch finds those of its operations, OpenAPI describes them. */
  readonly routes: RouteTable
  readonly lens: Lens
  /** The named segments of the route. */
  readonly params: { readonly [name: string]: string }
  readonly query: Query
  /** The body as JSON; undefined when there is none. */
  readonly body: unknown
  /** What the route read from outside the tenant before its commit. */
  readonly prepared?: unknown
  /** `$context` of the entities in the answer: the tenant's namespace below {base_url}, whichever host was asked. */
  readonly context: string
  /** The tenant's address on the host that was asked. */
  readonly address: string
  readonly requestId: string
  /** What the writes of this request share, and the secrets that they issue. */
  readonly writes: RequestContext & { readonly correlation: string | null; readonly secrets: Set<string> }
  /** How many bytes an import may have, after inflation. */
  readonly importLimit: number
  /** Reads a path of another tenant with a credential of that tenant. */
  readonly readOther: (slug: string, path: string, sender: Sender, part?: OtherPart) => Promise<HttpResponse>
  /** Reports a fault of ours to the operator. */
  readonly report: (reason: unknown) => void
}

/** Finds routes by method and path. */
export interface RouteTable<R = Route> {
  readonly all: readonly R[]
  find(method: string, segments: readonly string[]): Match<R> | { readonly allow: readonly string[] } | null
}

export interface Match<R = Route> {
  readonly route: R
  readonly params: { readonly [name: string]: string }
}

/** What not every host has: an interpreter, Argon2, an OIDC provider, a place for files. */
export type HostFeature = 'code' | 'passwords' | 'oidc' | 'files'

interface RouteBase extends Description {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the tenant: `/:type/:id`. One that begins with a type's name is also found below its plural path. */
  readonly path: string
  /** True for bodies that are not JSON, or too large to be held: the handler reads `request.body` itself. */
  readonly rawBody?: boolean
  /** What the host must offer for it: where that is missing it is answered 501, and not described. */
  readonly uses?: HostFeature
  /** The route that answers instead, where a path or a body means something else for a type. */
  readonly instead?: (request: HttpRequest, params: Match['params'], nouns: Nouns) => Route | null
  /** True for a POST that ignores an Idempotency-Key; docs/api.md says why. */
  readonly repeats?: boolean
}

/** A route that reads. */
export interface ReadRoute extends RouteBase {
  readonly mode: 'read'
  /** Answers with a promise only if `read` of the call may yield. */
  readonly handle: (call: Call) => MaybePromise<Reply>
}

/** A route that runs inside a commit. */
export interface WriteRoute extends RouteBase {
  readonly mode: 'write'
  readonly handle: (call: Call, write: TenantWriter) => Stepwise<Reply>
  /** Reads what the commit needs from outside the tenant. Null when it needs nothing. */
  readonly prepare?: (call: Call) => Promise<Call> | null
  /** The same in several commits, with turns for others in between. Null if it must be one. */
  readonly inTurns?: (call: Call) => Promise<Reply> | null
  /** The parts of its answer that are kept if it becomes a task: never values of entities. */
  readonly taskResult?: readonly string[]
  /** True when its parts read what those before them wrote, computed fields included. */
  readonly readsItsOwn?: boolean
  /** The most milliseconds of the engine in one commit, if that is less than a request may use. */
  readonly commitMs?: number
}

/** A route that reads or answers bit by bit, on its own. */
export interface StreamRoute extends RouteBase {
  readonly mode: 'stream'
  readonly handle: (call: Call) => MaybePromise<Reply>
}

/** One row of the table that routing, OpenAPI and the reference are made from. */
export type Route = ReadRoute | WriteRoute | StreamRoute

/** Query parameters: a string each, or JSON where a batch gives them so. */
export type Query = ReadonlyMap<string, unknown>

/** Reads the query part of a URL. The first of two equal names counts. */
export function parseQuery(text: string): Query {
  const query = new Map<string, string>()
  if (text === '') return query
  for (const [name, value] of new URLSearchParams(text)) if (!query.has(name)) query.set(name, withPlus(value))
  return query
}

/** The values of a parameter that a URL gives more than once. */
export class Repeated extends Array<string> {}

/** The query of a request, or a Problem if it holds bytes that are not UTF-8 text. */
export function readQuery(text: string): Query {
  const invalid = invalidEscape(text)
  if (invalid === null) return withRepeated(text, parseQuery(text))
  throw new Problem('invalid_parameter', `The query has an escape sequence that is not UTF-8 text: ${invalid}.`)
}

function withRepeated(text: string, query: Query): Query {
  // As many names as parameters: none is repeated.
  if (!text.includes('&') || text.split('&').length === query.size) return query
  const values = Map.groupBy(new URLSearchParams(text), ([name]) => name)
  return new Map(
    [...values].map(([name, given]) => {
      const texts = given.map(([, value]) => withPlus(value))
      return [name, texts.length > 1 ? Repeated.from(texts) : texts[0]!]
    }),
  )
}

/** The first escape sequence that is not UTF-8 text, or null. Readers of URLs replace it by another character. */
export function invalidEscape(text: string): string | null {
  if (!text.includes('%')) return null
  for (const [run] of text.matchAll(/(?:%[89a-f][0-9a-f])+/gi)) {
    try {
      decodeURIComponent(run)
    } catch {
      return run.slice(0, 60)
    }
  }
  return null
}

/** A time whose `+02:00` was not escaped, which a query reads as a space. */
function withPlus(value: string): string {
  return value.includes(' ') ? value.replace(/^(\d{4}-\d\d-\d\dT[\d:.]+) (\d\d:?\d\d)$/, '$1+$2') : value
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** Reads a body as JSON, bounded in depth and in the number of its values. */
export function parseBody(bytes: Uint8Array | null): unknown {
  if (bytes === null || bytes.length === 0) return undefined
  let text: string
  try {
    text = UTF8.decode(bytes)
  } catch {
    throw new Problem('invalid_json', 'The body is not UTF-8 text.')
  }
  return parseJson(text, 'The body')
}

/** Reads a text of JSON, bounded in depth and in the number of its values. */
export function parseJson(text: string, what = 'The JSON'): unknown {
  const fault = tooMuch(text)
  if (fault === 'levels')
    throw new Problem('too_deep', `${what} is nested deeper than ${MAX_DEPTH} levels.`, { limit: MAX_DEPTH })
  if (fault === 'names') {
    const message = `${what} may have at most ${MOST_NAMES} different names of members. Send it in parts.`
    throw new Problem('too_large', message, { limit: MOST_NAMES })
  }
  if (fault === 'values') {
    const message = `${what} may have at most ${MOST_VALUES} values; an object, a list and a member of an object count as four. Send it in parts.`
    throw new Problem('too_large', message, { limit: MOST_VALUES })
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (reason) {
    throw new Problem('invalid_json', `${what} is not valid JSON: ${(reason as Error).message.slice(0, 200)}`)
  }
  if (hasLoneSurrogate(text, value))
    throw new Problem('invalid_json', `${what} has half of a surrogate pair (such as \\ud83d), which is not text.`)
  return value
}

/** The text of a query parameter, or undefined. One that is given twice is refused: only one of its values could count. */
export function textParam(query: Query, name: string): string | undefined {
  const value = query.get(name)
  if (value instanceof Repeated) throw givenTwice(name, value)
  return value === undefined || value === null ? undefined : typeof value === 'string' ? value : JSON.stringify(value)
}

/** The problem of a parameter with one value that is given more than once. */
export function givenTwice(name: string, { length }: Repeated): Problem {
  return new Problem('invalid_parameter', `${name} is given ${length} times. Send it once.`, { field: name })
}

/** What a parameter lists with commas. It may be given more than once, and a batch may give a list. */
export function listParam(query: Query, name: string): string[] {
  return listedNames(query.get(name))
}

/** Whether a flag is on: `dryRun=true`. Anything but true and false is a mistake worth telling. */
export function flagParam(query: Query, name: string, otherwise = false): boolean {
  const text = textParam(query, name)
  if (text === undefined) return otherwise
  if (text === 'true' || text === '1' || text === '') return true
  if (text === 'false' || text === '0') return false
  throw new Problem('invalid_parameter', `${name} must be true or false, not ${text.slice(0, 40)}.`, { field: name })
}
