import { isPlainObject, type Json, type JsonObject, Problem } from '@tildebase/nouns'
import type { Engine } from '../../../engine/engine.ts'
import type { RunRow } from '../../../store/automation/workflow-runs.ts'
import { secretOf } from '../../secrets.ts'
import { type Filling, faultsInTexts, fill, type Sources, secretsIn, textOf } from '../values.ts'
import { jsonIn } from './json.ts'
import { callTool, type Exchange } from './mcp.ts'
import type { RequestStep } from './step.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/
/** Headers that the service sets itself. */
const OWN_HEADERS = new Set(
  'connection content-length expect host idempotency-key keep-alive te trailer transfer-encoding upgrade'.split(' '),
)
const MOST_HEADERS = 50
const TIMEOUT_MS = 10_000
const MOST_ANSWER = 1_048_576
const AGENT = 'Tildebase/0.1'

/** A request of a step, which is sent outside of transactions. */
export interface RequestTask {
  readonly run: RunRow
  readonly step: number
  readonly request: RequestStep
  readonly sources: Sources
  /** When the run has to be over, or null. */
  readonly deadline: number | null
}

/** What is wrong with a request. */
export function requestFaults(
  engine: Engine,
  { request, accept }: { readonly [part: string]: unknown },
  index: number,
): string[] {
  if (!isPlainObject(request)) return ['request must be an object: {method, url, headers, body}']
  const { method, url, headers, body, ...rest } = request
  const unknown = Object.keys(rest)
  const isStatus = (status: unknown) => Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599
  return [
    ...(unknown.length > 0 ? [`request has ${unknown.join(', ')}; it takes method, url, headers, body`] : []),
    ...(METHODS.includes(method as string) ? [] : [`request.method must be one of ${METHODS.join(', ')}`]),
    ...urlFaults(engine, url),
    ...(headers === undefined ? [] : headersFaults(headers)),
    ...(body !== undefined && (method === 'GET' || method === 'HEAD') ? [`a ${method} request has no body`] : []),
    ...(accept === undefined || (Array.isArray(accept) && accept.every(isStatus))
      ? []
      : ['accept must be a list of statuses from 400 to 599']),
    ...faultsInTexts(request, index),
  ]
}

function urlFaults(engine: Engine, url: unknown): string[] {
  if (typeof url !== 'string' || url.length > 4_000) return ['request.url must be a URL of at most 4,000 characters']
  // The address is tested when the request is sent, too. A URL that is a reference is known only then.
  if (/^\$/.test(url)) return []
  const plain = url.replace(/\$(?:event|steps|secrets)[A-Za-z0-9_.$]*/g, 'x')
  if (!URL.canParse(plain) || !/^https?:/.test(plain)) return ['request.url must be an http or https URL']
  const refusal = engine.ports.outbound?.refuses?.(plain) ?? null
  return refusal === null ? [] : [`request.url: ${refusal}`]
}

function headersFaults(headers: unknown): string[] {
  if (!isPlainObject(headers)) return ['request.headers must be an object of texts']
  const names = Object.keys(headers)
  if (names.length > MOST_HEADERS) return [`request.headers may have ${MOST_HEADERS} headers`]
  return names.flatMap((name) => {
    if (!HEADER.test(name)) return [`request.headers: ${name.slice(0, 60)} is not the name of a header`]
    if (OWN_HEADERS.has(name.toLowerCase())) return [`request.headers: the service sets ${name} itself`]
    return typeof headers[name] === 'string' ? [] : [`request.headers.${name} must be a text`]
  })
}

/** What a run keeps of a request: its values, with the names of secrets instead of secrets. */
export function shownRequest({ request }: RequestStep, sources: Sources): JsonObject {
  return filled(request, { sources, secret: (name) => `$secrets.${name}` })
}

/** Sends the request of a step. Each attempt has the same Idempotency-Key. Never throws: failures are returned. */
export async function sendRequest(engine: Engine, task: RequestTask): Promise<StepResult> {
  const { accept = [], isMcp = false } = task.request
  const about = { id: task.run.id, field: `steps.${task.step}` }
  const failed = (message: string) => ({ problem: new Problem('unavailable', message, about) })
  const exchange = openExchange(engine, task)
  if (typeof exchange === 'string') return failed(exchange)
  if (isMcp) {
    const called = await callTool(exchange)
    return 'error' in called ? failed(called.error) : { result: { body: called.answer } }
  }
  const answer = await exchange.send(exchange.body, {})
  if ('error' in answer) return failed(answer.error)
  const { status, headers = {}, text = '' } = answer
  if (status >= 400 && !accept.includes(status)) {
    return failed(`The service answered ${status}. ${text.slice(0, 300)}`.trim())
  }
  const json = /\bjson\b/.test(headers['content-type'] ?? '') ? jsonIn(text) : undefined
  return { result: { status, headers, body: json === undefined ? text : exchange.redact(json) } }
}

type StepResult = { readonly result: Json } | { readonly problem: Problem }

/** Makes a request ready to be sent; a text says why it cannot be. */
function openExchange(engine: Engine, { run, step, request, sources, deadline }: RequestTask): Exchange | string {
  const { outbound, clock } = engine.ports
  if (!outbound) return 'This host sends no requests.'
  const secrets = new Map<string, string>()
  for (const name of secretsIn(request.request)) {
    const value = secretOf(engine, name)
    if (value === null) return `There is no secret ${name}, or it was encrypted with another TILDE_SECRET_KEY.`
    secrets.set(name, value)
  }
  const secret = (name: string) => secrets.get(name)!
  const { method, url, headers = {}, body } = filled(request.request, { sources, secret })
  const texts = Object.entries(headers as JsonObject).map(([name, value]) => [name, textOf(value)] as const)
  if (typeof url !== 'string' || !URL.canParse(url)) return 'The URL of the request is not a URL.'
  // Text with line breaks does not belong into a header: it could become another header.
  const broken = texts.find(([, value]) => /[^\t\x20-\x7e\x80-\xff]/.test(value))
  if (broken) return `The header ${broken[0]} has a character that a header cannot have.`
  const redact = redactor(secrets)
  // A URL spells the name of a host in small letters.
  const redactHost = redactor(new Map([...secrets].map(([name, value]) => [name, value.toLowerCase()])))
  const patience = request.waitMs ?? TIMEOUT_MS
  return {
    body,
    redact: (value) => (secrets.size === 0 ? value : redacted(value, redact)),
    async send(sent, more) {
      const isJson = sent !== undefined && typeof sent !== 'string'
      const answer = await outbound.send({
        method: method as string,
        url,
        headers: {
          'user-agent': AGENT,
          ...(isJson && { 'content-type': 'application/json' }),
          ...more,
          ...Object.fromEntries(texts.map(([name, value]) => [name.toLowerCase(), value])),
          'idempotency-key': `${run.id}-${step}`,
        },
        body: sent === undefined ? '' : isJson ? JSON.stringify(sent) : (sent as string),
        timeoutMs: Math.max(1, Math.min(patience, (deadline ?? Number.POSITIVE_INFINITY) - clock.now())),
        answerLimit: MOST_ANSWER,
      })
      if ('error' in answer) return { error: redactHost(redact(answer.error)) }
      const { status, text = '', headers: got = {} } = answer
      const headers = Object.entries(got).map(([name, value]) => [redact(name), redact(value)] as const)
      return { status, text: redact(text), headers: Object.fromEntries(headers) }
    },
  }
}

/** A request with its references replaced. In a URL they are percent-encoded, unless one is the whole URL. */
function filled(request: RequestStep['request'], filling: Filling): JsonObject {
  const { method, url, headers, body } = request
  return {
    method,
    url: textOf(fill(url, { ...filling, encode: encodeURIComponent })),
    ...(headers && { headers: fill(headers, filling) ?? {} }),
    ...(body !== undefined && { body: fill(body, filling) ?? null }),
  }
}

/** Takes secrets out of what another service said, in the spellings in which it may repeat them. */
function redactor(secrets: ReadonlyMap<string, string>): (text: string) => string {
  const spellings = [...secrets].flatMap(([name, value]) =>
    spellingsOf(value).map((spelling) => [spelling, `[secret ${name}]`] as const),
  )
  return (text) => spellings.reduce((kept, [spelling, name]) => kept.replaceAll(spelling, () => name), text)
}

/** A value without secrets, those that are spelled as JSON inside of a text included. */
function redacted(value: Json, redact: (text: string) => string): Json {
  if (typeof value === 'string') {
    const plain = value.replace(/\\(?:u([0-9a-f]{4})|(.))/gis, (_, code, letter) =>
      code === undefined ? letter : String.fromCharCode(Number.parseInt(code, 16)),
    )
    const found = redact(plain)
    return found === plain ? redact(value) : found
  }
  if (Array.isArray(value)) return value.map((one) => redacted(one as Json, redact))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [redact(name), redacted(one, redact)]))
}

/** The longest come first: a shorter one may be a part of them. */
function spellingsOf(value: string): readonly string[] {
  // A header has no spaces at its ends.
  const texts = [value, value.trim()].filter((text) => text !== '')
  const all = texts.flatMap((text) => {
    const percent = encodeURIComponent(text)
    const small = percent.replace(/%../g, (byte) => byte.toLowerCase())
    const form = new URLSearchParams([['', text]]).toString().slice(1)
    const json = JSON.stringify(text).slice(1, -1)
    return [text, json, json.replaceAll('/', '\\/'), percent, small, form, ...htmlOf(text), ...base64Of(text)]
  })
  return [...new Set(all)].sort((one, other) => other.length - one.length)
}

/** In which ways HTML and XML spell the two quotes. */
const DOUBLE_QUOTES = ['"', '&quot;', '&#34;', '&#x22;']
const SINGLE_QUOTES = ["'", '&#39;', '&#039;', '&#x27;', '&apos;']

/** A text inside of a page or of XML. */
function htmlOf(text: string): readonly string[] {
  const safe = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return DOUBLE_QUOTES.flatMap((double) =>
    SINGLE_QUOTES.map((single) => safe.replaceAll('"', double).replaceAll("'", single)),
  )
}

/** Shorter parts of base64 would be found by chance. */
const SHORTEST_PART = 5

/** A text in base64, alone and inside of a longer text (such as `name:text`): the letters that follow from it alone. */
function base64Of(text: string): readonly string[] {
  const bytes = new TextEncoder().encode(text)
  const inside = [0, 1, 2].map((before) => {
    const letters = btoa(String.fromCharCode(...new Uint8Array(before), ...bytes))
    return letters.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
  })
  const plain = [btoa(String.fromCharCode(...bytes)), ...inside.filter(({ length }) => length >= SHORTEST_PART)]
  return plain.flatMap((one) => [one, one.replaceAll('+', '-').replaceAll('/', '_')])
}
