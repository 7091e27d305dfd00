import { type Events, eventsOf, type Problem, type Sending, type Wire, wireTo } from '@tildebase/client'
import type { JsonObject, NounMap } from '@tildebase/nouns'
import { t } from '../texts/text.ts'
import { fetchEarly } from './early.ts'
import { leave, type Session, session } from './session.ts'

/** Thrown when an answer arrives after its tenant was closed. Nothing waits for that answer. */
export class ClosedError extends Error {}

interface Connection {
  readonly session: Session
  readonly wire: Wire
  readonly events: Events<NounMap>
}

let connection: Connection | null = null

/** One request to the tenant, answered as parsed JSON. */
export async function request<T>(method: string, path: string, sending: Omit<Sending, 'method'> = {}): Promise<T> {
  const { wire, session: mine } = current()
  const value = await wire.json(`/~${mine.tenant}${path}`, { ...sending, method }).catch(closedOr(mine))
  if (session.value !== mine) throw new ClosedError()
  return value as T
}

/** Several reads in one request, by their ids. What cannot be read is missing. */
export async function requestAll<T>(
  reads: readonly { readonly id: string; readonly path: string; readonly query: object }[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, T>> {
  const { results } = await request<{ results: { id: string; status: number; body: T }[] }>('POST', '/batch', {
    body: { operations: reads.map((read) => ({ method: 'GET', ...read })) as JsonObject[] },
    ...(signal && { signal }),
  })
  return new Map(results.filter(({ status }) => status === 200).map((one) => [one.id, one.body]))
}

/** One request to the tenant, answered as it comes. */
export async function send(method: string, path: string, sending: Omit<Sending, 'method'> = {}): Promise<Response> {
  const { wire, session: mine } = current()
  const response = await wire.send(`/~${mine.tenant}${path}`, { ...sending, method }).catch(closedOr(mine))
  if (session.value !== mine) throw new ClosedError()
  return response
}

/** The change stream of the tenant. */
export function eventStream(): Events<NounMap> {
  return current().events
}

/** The full address of a path below the tenant, for links and commands. */
export function addressOf(path: string, query: { readonly [name: string]: string | null | undefined } = {}): string {
  const pairs = Object.entries(query).filter((pair): pair is [string, string] => !!pair[1])
  const search = new URLSearchParams(pairs).toString()
  return `${location.origin}/~${session.value?.tenant}${path}${search === '' ? '' : `?${search}`}`
}

/** Ends the session when the service no longer accepts its key. */
export function checkKey(status: number): void {
  if (status !== 401) return
  leave(
    session.value?.csrf
      ? t('You are signed out. Sign in again to continue here.')
      : t('This key no longer works. Paste another one to continue here.'),
  )
}

/** Whether a request failed because the server could not be reached. */
export function isUnreachable(reason: unknown): boolean {
  return (reason as Problem | null)?.code === 'unreachable'
}

/** The HTTP status of a problem, or 0. */
export function statusOf(reason: unknown): number {
  return Number((reason as Problem | null)?.about?.status ?? 0)
}

function current(): Connection {
  const mine = session.value
  if (!mine) throw new ClosedError()
  if (connection?.session !== mine) {
    const wire = wireTo({ baseUrl: location.origin, apiKey: mine.key, retries: 2, fetch: guarded(mine) })
    connection = { session: mine, wire, events: eventsOf(wire, `/~${mine.tenant}`) }
  }
  return connection
}

/** The headers that identify the caller: a key, or the CSRF token for writes with a cookie. */
export function withSession(mine: Session, method: string, given: HeadersInit = {}): Headers {
  const headers = new Headers(given)
  if (mine.csrf === undefined) headers.set('authorization', `Bearer ${mine.key}`)
  else {
    headers.delete('authorization')
    if (method !== 'GET' && method !== 'HEAD') headers.set('x-tilde-csrf', mine.csrf)
  }
  return headers
}

/** A fetch without the browser's cache, and without cookies when a key is used. It notices when that is refused. */
function guarded(mine: Session) {
  return async (url: string, init: RequestInit): Promise<Response> => {
    const credentials = mine.csrf === undefined ? 'omit' : 'same-origin'
    const headers = withSession(mine, init.method ?? 'GET', init.headers)
    const sending: RequestInit = { ...init, headers, cache: 'no-store', credentials }
    const path = url.slice(location.origin.length)
    const response = await (mine.csrf === undefined ? fetch(url, sending) : fetchEarly(path, sending))
    if (session.value === mine) checkKey(response.status)
    return response
  }
}

function closedOr(mine: Session) {
  return (reason: unknown): never => {
    if (session.value !== mine) throw new ClosedError()
    throw reason
  }
}
