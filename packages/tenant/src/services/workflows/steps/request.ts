import { isPlainObject, type Json, type JsonObject, Problem } from '@tildebase/nouns'
import type { Engine } from '../../../engine/engine.ts'
import { inTurns, toEnd } from '../../../engine/turns.ts'
import type { RunRow } from '../../../store/automation/workflow-runs.ts'
import { secretOf } from '../../secrets.ts'
import { type Filling, faultsInTexts, fill, type Sources, secretsIn, textOf } from '../values.ts'
import { jsonIn } from './json.ts'
import { callTool, type Exchange } from './mcp.ts'
import { Redactor } from './redaction.ts'
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
  try {
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
    return { result: { status, headers, body: json === undefined ? text : await exchange.redact(json) } }
  } catch (reason) {
    if (reason instanceof Problem) return failed(reason.message)
    throw reason
  }
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
  const { turns } = engine.ports
  const redactor = new Redactor(secrets)
  // A URL spells the name of a host in small letters.
  const ofHosts = new Redactor(new Map([...secrets].map(([name, value]) => [name, value.toLowerCase()])))
  const patience = request.waitMs ?? TIMEOUT_MS
  return {
    body,
    redact: async (value) => (secrets.size === 0 ? value : inTurns(turns, redactor.json(value))),
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
      if ('error' in answer) {
        const [error] = toEnd(ofHosts.texts(toEnd(redactor.texts([answer.error]))))
        return { error: error! }
      }
      const { status, text: given = '', headers: got = {} } = answer
      if (secrets.size === 0) return { status, text: given, headers: got }
      const [text, ...parts] = await inTurns(turns, redactor.texts([given, ...Object.entries(got).flat()]))
      return { status, text: text!, headers: pairsOf(parts) }
    },
  }
}

/** Names and values in turns as an object. */
function pairsOf(parts: readonly string[]): { readonly [name: string]: string } {
  return Object.fromEntries(parts.flatMap((name, i) => (i % 2 === 0 ? [[name, parts[i + 1]!]] : [])))
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
