import { signal } from '@preact/signals'
import { leave, type Session, session } from './session.ts'

export type Query = { readonly [name: string]: string | number | boolean | null | undefined }

export interface Ask {
  readonly query?: Query
  readonly body?: unknown
  readonly headers?: { readonly [name: string]: string }
  readonly signal?: AbortSignal
}

/** What the service said no to, in its own words. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string
  readonly details: readonly { readonly field?: string; readonly message: string }[]

  constructor(status: number, body: { error?: string; message?: string; details?: unknown }) {
    super(body.message ?? `The server answered ${status}.`)
    this.status = status
    this.code = body.error ?? 'unknown'
    this.details = Array.isArray(body.details) ? body.details : []
  }
}

/** Names in the last request that the tenant does not know. */
export interface Warning {
  readonly field: string
  readonly nearest: string | null
}

export const warnings = signal<readonly Warning[]>([])

/** An answer that came after its tenant was left: nobody wants it any more. */
export class Late extends Error {}

/** One request to the tenant, answered as parsed JSON. */
export async function ask<T>(method: string, path: string, given: Ask = {}): Promise<T> {
  const response = await send(method, path, given)
  const text = await response.text()
  return (text === '' ? null : JSON.parse(text)) as T
}

/** One request to the tenant, answered as it comes. Refusals are thrown; a key that no longer opens ends the session. */
export async function send(method: string, path: string, given: Ask = {}): Promise<Response> {
  const mine = session.value
  if (!mine) throw new Late()
  const { body, headers, signal } = given
  const response = await fetch(address(mine, path, given.query), {
    method,
    headers: {
      authorization: `Bearer ${mine.key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
    cache: 'no-store',
    credentials: 'omit',
  }).catch((reason: unknown) => {
    if (signal?.aborted) throw new Late()
    throw new Refusal(0, { error: 'unreachable', message: `The server cannot be reached (${reason}).` })
  })
  if (session.value !== mine) throw new Late()
  const text = response.headers.get('x-tilde-warnings')
  if (text !== null) warnings.value = JSON.parse(text)
  if (response.ok) return response
  throw refused(response.status, await response.text())
}

/** The refusal in an answer's text. A 401 also leads back to the key box. */
export function refused(status: number, text: string): Refusal {
  if (status === 401) leave('This key no longer opens the tenant. Paste one that does to go on where you were.')
  try {
    return new Refusal(status, JSON.parse(text))
  } catch {
    return new Refusal(status, {})
  }
}

export function address({ tenant }: Session, path: string, query: Query = {}): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== '')
  const search = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString()
  return `${location.origin}/~${tenant}${path}${search === '' ? '' : `?${search}`}`
}
