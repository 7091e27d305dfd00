import { type JsonObject, Problem } from '@tildebase/nouns'
import {
  BEGUN,
  dropAnswer,
  type Engine,
  forgetOldAnswers,
  type KeptAnswer,
  keepAnswer,
  keptAnswer,
  noteProgress,
} from '@tildebase/tenant'
import type { Call } from './call.ts'
import type { HttpResponse } from './http.ts'
import { withoutSecrets } from './redact.ts'
import { refusal } from './respond.ts'

const DAY = 86_400_000
const MAX_KEY = 255

/** The requests under way that take their time, by tenant. */
const UNDER_WAY = new WeakMap<Engine, Set<string>>()
/** Those of them that are to be done once, and whether they have written. */
const RUNS = new WeakMap<Call, { readonly scope: string; wrote: boolean }>()

/** Whether a request is to be done once. */
export function isOnce({ ask }: Call): boolean {
  return ask.method === 'POST' && ask.headers['idempotency-key'] !== undefined
}

/** Runs a POST once per Idempotency-Key. The answer is kept in the transaction of the write, so a crash keeps both or none. */
export function remember(call: Call, work: () => HttpResponse): HttpResponse {
  const scope = scopeOf(call)
  if (scope === null) return work()
  const fingerprint = fingerprintOf(call)
  const known = replayed(call, scope, fingerprint)
  if (known) return known
  const answer = work()
  return answer.status < 400 ? kept(call, scope, fingerprint, answer) : answer
}

/**
 * The same for a POST that takes its time. While it is under way a second one is refused. That it has begun is kept
 * before its first write, its answer at its end: what was cut off in between is refused when it comes again.
 */
export async function rememberLong(
  call: Call,
  work: () => Promise<HttpResponse>,
  report: (reason: unknown, requestId: string) => void,
): Promise<HttpResponse> {
  const scope = scopeOf(call)
  if (scope === null) return work()
  const busy = UNDER_WAY.get(call.tenant) ?? new Set()
  UNDER_WAY.set(call.tenant, busy)
  if (busy.has(scope)) {
    throw new Problem('in_flight', 'The first request with this Idempotency-Key is still under way.', {
      field: 'Idempotency-Key',
    })
  }
  busy.add(scope)
  try {
    const fingerprint = fingerprintOf(call)
    const known = replayed(call, scope, fingerprint)
    if (known) return known
    await call.commits.run(() => keep(call, scope, { fingerprint, status: BEGUN, headers: '{}', body: null }))
    const run = { scope, wrote: false }
    RUNS.set(call, run)
    const answer = await work().catch((reason) => {
      // Code that failed may have written before: what it wrote has a correlation, and is not to be written again.
      run.wrote ||= reason instanceof Problem && typeof reason.about.correlation === 'string'
      return refusal(reason, call.requestId, report)
    })
    return await call.commits.run(() => {
      if (answer.status < 400 || run.wrote) return kept(call, scope, fingerprint, answer)
      dropAnswer(call.tenant.sql, scope)
      return answer
    })
  } finally {
    busy.delete(scope)
  }
}

/** Notes what a request has written so far, in the same transaction: whoever sends it again after a crash is told. */
export function noteWritten(call: Call, progress: JsonObject): void {
  const run = RUNS.get(call)
  if (!run) return
  run.wrote = true
  noteProgress(call.tenant.sql, run.scope, JSON.stringify(progress))
}

/** Whose key it is, and for what: null when the request has none. */
function scopeOf(call: Call): string | null {
  if (!isOnce(call)) return null
  const key = call.ask.headers['idempotency-key']!
  if (key === '' || key.length > MAX_KEY) {
    throw new Problem('invalid_parameter', `An Idempotency-Key has 1 to ${MAX_KEY} characters.`, {
      field: 'Idempotency-Key',
    })
  }
  return JSON.stringify([call.grant.actor, call.ask.method, call.ask.path, key])
}

/** What tells one request from another. A body that streams by is known by what its headers say of it. */
function fingerprintOf({ ask, tenant }: Call): string {
  const { headers, body, query } = ask
  const streamed = ['content-type', 'content-encoding', 'content-length'].map((name) => headers[name] ?? '').join('\n')
  const digest = tenant.ports.seal.sha256(
    query,
    '\n',
    body instanceof Uint8Array ? body : body === null ? '' : streamed,
  )
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The answer that was given before, or null. */
function replayed({ tenant }: Call, scope: string, fingerprint: string): HttpResponse | null {
  const known = keptAnswer(tenant.sql, scope)
  if (!known || known.at <= tenant.ports.clock.now() - DAY) return null
  if (known.fingerprint !== fingerprint) {
    throw new Problem(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another body. Use a new key for a new request.',
      { field: 'Idempotency-Key' },
    )
  }
  const { status, headers, body } = known
  if (status === BEGUN) throw cutOff(JSON.parse(body ?? '{}'))
  return { status, headers: { ...JSON.parse(headers), 'idempotency-replayed': 'true' }, body }
}

function cutOff(progress: JsonObject): Problem {
  return new Problem(
    'conflict',
    'The first request with this Idempotency-Key was cut off, and part of it may be done. See what is there, and send what is left with a new key.',
    { field: 'Idempotency-Key', ...progress },
  )
}

/** Keeps an answer, if it is text. */
function kept(call: Call, scope: string, fingerprint: string, answer: HttpResponse): HttpResponse {
  const { status, headers, body } = answer
  if (body !== null && typeof body !== 'string') return answer
  const text = body?.includes('"secret"') ? JSON.stringify(withoutSecrets(JSON.parse(body))) : body
  keep(call, scope, { fingerprint, status, headers: JSON.stringify(headers), body: text })
  return answer
}

function keep({ tenant }: Call, scope: string, answer: Omit<KeptAnswer, 'at'>): void {
  const at = tenant.ports.clock.now()
  forgetOldAnswers(tenant.sql, at - DAY)
  keepAnswer(tenant.sql, scope, { ...answer, at })
}
