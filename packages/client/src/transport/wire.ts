import { Problem } from '@tildebase/nouns'
import type { AnyJson } from './any-json.ts'
import { type Failure, nextWait, pause } from './retry.ts'
import { isTask, type Task, type TaskOptions, taskDone } from './task.ts'

/** Where the service is, and how to reach it. */
export type WireOptions = Connection & Sender

/** The credentials of all requests: an API key, or those of a person who signed in. */
export type Sender =
  | { readonly apiKey: string; readonly auth?: undefined }
  | { readonly auth: Auth; readonly apiKey?: undefined }

/** The credentials of a sign-in, which may have to be renewed. */
export interface Auth {
  /** The headers of a request. */
  headers(method: string): Promise<{ readonly [name: string]: string }>
  /** Called after a 401; true if it is worth another attempt. */
  renew?(): Promise<boolean>
}

export interface Connection extends TaskOptions {
  /** {base_url}, such as `https://tilde.example`. */
  readonly baseUrl: string
  /** Another transport: for a test, or for a tenant in this process. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** How often a request is repeated after a lost connection, 429 or 503; 4 by default. */
  readonly retries?: number | undefined
  /** Called with the warnings of an answer, such as unknown names; default `console.warn`. */
  readonly onWarnings?: (warnings: readonly Warning[], path: string) => void
}

/** What an answer reports besides its value. */
export type Warning = UnknownName | IgnoredName | NothingOutside

/** A name that is neither declared nor stored, and the declared one that looks most like it. */
export interface UnknownName {
  readonly field: string
  readonly nearest: string | null
}

/** A name without an effect: a parameter that the request does not take, or a field that only the service sets. */
export interface IgnoredName {
  readonly field: string
  readonly nearest: null
  readonly warning: 'ignored'
}

/** A verb that did nothing outside of the service, such as `Message.send` without a mail server. */
export interface NothingOutside {
  readonly warning: 'not_configured' | 'not_called'
  /** The channel that has no transport. */
  readonly channel?: string
  /** The state of an agent that is not called. */
  readonly status?: string
}

/** One request. */
export interface Sending {
  readonly method?: string | undefined
  /** Parameters; null and undefined are left out, and what is not a string is written as JSON. */
  readonly query?: { readonly [name: string]: unknown } | undefined
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is, with its own content type. */
  readonly raw?: { readonly type: string; readonly body: BodyInit } | undefined
  readonly headers?: { readonly [name: string]: string | undefined } | undefined
  readonly signal?: AbortSignal | undefined
  /** True for a request that must not be sent again if it may have arrived. */
  readonly once?: boolean | undefined
}

/** Sends requests with the key, repeats lost ones, and turns errors into Problems. */
export interface Wire {
  readonly baseUrl: string
  /** The answer as soon as its headers are there. */
  send(path: string, sending?: Sending): Promise<Response>
  /** The answer's JSON; null when it has no body. It waits for a write that the service continues as a task. */
  json(path: string, sending?: Sending): Promise<AnyJson>
}

/** A wire to a service. */
export function wireTo(options: WireOptions): Wire {
  if (!options.auth) checkKey(options.apiKey)
  if (!options.fetch) checkUrl(options.baseUrl)
  const baseUrl = options.baseUrl.replace(/\/+$/, '')
  const wire = { ...options, baseUrl }
  return {
    baseUrl,
    send: (path, sending = {}) => persist(wire, path, keyed(sending), async (response) => response),
    json: (path, sending = {}) => answerOf(wire, path, keyed(sending)),
  }
}

/** Refuses a key that is not valid in a header. The error of fetch would show the whole key. */
function checkKey(key: unknown): void {
  if (typeof key === 'string' && /^[\x21-\x7e]+$/.test(key)) return
  const fault =
    typeof key !== 'string' || key === ''
      ? 'is missing'
      : /[\r\n]/.test(key)
        ? 'has a line break in it'
        : 'has a space or a letter in it that no key has'
  throw new Problem('invalid_key', `The API key ${fault}. Give the secret alone, as it was shown when it was created.`)
}

/** Refuses an address without its protocol, which fetch would try five times. In a browser it may be relative to the page. */
function checkUrl(url: string): void {
  const { location } = globalThis as { readonly location?: { readonly href: string } }
  const base = location?.href
  if (URL.canParse(url, base) && /^https?:$/.test(new URL(url, base).protocol)) return
  const given = url === '' ? 'an empty text' : url
  throw new Problem('invalid_parameter', `baseUrl must be a URL such as http://localhost:8787, not ${given}.`)
}

interface Answer {
  readonly value: AnyJson
  readonly isTask: boolean
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text()
  return { value: text === '' ? null : JSON.parse(text), isTask: isTask(response) }
}

/** The answer of a write, as if the service had given it at once. */
async function answerOf(wire: WireOptions, path: string, sending: Sending): Promise<AnyJson> {
  const { value, isTask } = await persist(wire, path, sending, read)
  if (!isTask || wire.waitForTasks === false) return value
  const { signal } = sending
  const at = `${path.slice(0, path.indexOf('/', path.indexOf('/~') + 1))}/tasks/${value.id}`
  const look = async (): Promise<Task> => (await persist(wire, at, { signal }, read)).value
  const { result } = await taskDone(value, look, wire, signal)
  if (!isRepeatable(path, sending)) return result
  const again = await persist(wire, path, sending, read)
  return again.isTask ? result : again.value
}

/** Whether a write that is done may be sent again for its answer: the service keeps that of a POST under its key. */
function isRepeatable(path: string, { method, query, raw, headers }: Sending): boolean {
  if (raw?.body instanceof ReadableStream || query?.dryRun || path.includes('dryRun=')) return false
  if (method === 'PUT') return query?.propose === undefined && !path.includes('propose=')
  return method === 'POST' && headers?.['idempotency-key'] !== undefined
}

/** A request with a key that is the same on every attempt, so that it runs only once. */
function keyed(sending: Sending): Sending {
  if (sending.method !== 'POST' || sending.once || sending.headers?.['idempotency-key']) return sending
  return { ...sending, headers: { ...sending.headers, 'idempotency-key': token() } }
}

/** Sends until there is an answer, or until a retry does not help. */
async function persist<T>(
  wire: WireOptions,
  path: string,
  sending: Sending,
  take: (response: Response) => Promise<T>,
): Promise<T> {
  const url = `${wire.baseUrl}${path}${queryText(sending.query)}`
  const init = initOf(sending)
  const send = wire.fetch ?? fetch
  let isRenewed = false
  for (let failures = 0; ; failures++) {
    let failure: Failure
    let problem: unknown
    try {
      const response = await send(url, { ...init, headers: await headersOf(wire, sending, init.headers) })
      warn(wire, path, response.headers.get('x-tilde-warnings'))
      if (response.ok) return await take(response)
      const refused = await problemOf(response)
      if (response.status === 401 && !isRenewed && (await wire.auth?.renew?.())) {
        isRenewed = true
        continue
      }
      problem = refused
      failure = {
        kind: 'refused',
        status: response.status,
        code: refused.code,
        retryAfter: response.headers.get('retry-after'),
      }
    } catch (reason) {
      if (sending.signal?.aborted) throw sending.signal.reason
      // A tenant in this process may refuse without answering.
      if (reason instanceof Problem) throw reason
      problem = unreachable(wire.baseUrl, reason)
      failure = { kind: 'lost' }
    }
    const wait = nextWait(failure, failures)
    const again = wait !== null && failures < (wire.retries ?? 4) && !(sending.once && failure.kind === 'lost')
    // A stream can be read once, so it cannot be sent again.
    if (!again || sending.raw?.body instanceof ReadableStream) throw problem
    await pause(wait, sending.signal)
  }
}

function warn({ onWarnings = toConsole }: WireOptions, path: string, text: string | null): void {
  if (text !== null) onWarnings(JSON.parse(text), path)
}

function toConsole(warnings: readonly Warning[], path: string): void {
  console.warn(`${path}: ${warnings.map(warningText).join(' ')}`)
}

/** A warning as a sentence. */
export function warningText(warning: Warning): string {
  if ('field' in warning && 'warning' in warning) return `${warning.field} has no effect here.`
  if ('field' in warning) {
    const { field, nearest } = warning
    return `${field} is neither declared nor stored${nearest === null ? '.' : `; did you mean ${nearest}?`}`
  }
  const { channel, status } = warning
  if (status !== undefined) return `The agent is ${status}, so it is not called.`
  if (channel !== undefined) return `Nothing sends this: no transport for ${channel} is configured.`
  return 'Nothing outside happened: no connector, and no endpoint, is configured for it.'
}

/** The headers of one attempt: those of the request, with the credentials of the moment. */
async function headersOf({ apiKey, auth }: WireOptions, { method = 'GET' }: Sending, fixed: Headers): Promise<Headers> {
  const headers = new Headers(fixed)
  const proof = auth ? await auth.headers(method) : { authorization: `Bearer ${apiKey}` }
  for (const [name, value] of Object.entries(proof)) headers.set(name, value)
  return headers
}

function initOf(sending: Sending): RequestInit & { readonly headers: Headers } {
  const { method = 'GET', body, raw, signal } = sending
  const headers = new Headers({ accept: 'application/json' })
  if (body !== undefined) headers.set('content-type', 'application/json')
  if (raw) headers.set('content-type', raw.type)
  for (const [name, value] of Object.entries(sending.headers ?? {})) if (value !== undefined) headers.set(name, value)
  return {
    method,
    headers,
    signal,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(raw && { body: raw.body }),
    ...(raw?.body instanceof ReadableStream && { duplex: 'half' }),
  } as RequestInit & { readonly headers: Headers }
}

/** 128 random bits. Not randomUUID: pages that came over plain http do not have it. */
export function token(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function queryText(query: Sending['query']): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null) continue
    params.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  const text = params.toString()
  return text === '' ? '' : `?${text}`
}

async function problemOf(response: Response): Promise<Problem> {
  const { status } = response
  const text = await response.text()
  try {
    return problemIn(JSON.parse(text), status)
  } catch {
    return new Problem('unexpected_answer', `The server returned ${status} without a reason.`, { status })
  }
}

/** The Problem in the body of an error. */
export function problemIn(body: { [key: string]: unknown }, status: number): Problem {
  const { error, message, ...about } = body
  if (typeof error !== 'string') throw new TypeError('This is not the body of an error.')
  return new Problem(error, String(message), { ...about, status })
}

function unreachable(baseUrl: string, reason: unknown): Problem {
  const { message, cause } = reason as Error & { cause?: { code?: string; message?: string } }
  const why = cause?.code ?? cause?.message ?? message
  const problem = new Problem('unreachable', `${baseUrl} cannot be reached (${why}). Is the server running there?`)
  problem.cause = reason
  return problem
}
