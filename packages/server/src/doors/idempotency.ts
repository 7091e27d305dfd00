import { type JsonObject, Problem } from '@tildebase/nouns'
import type { Steps, Stepwise, TenantWriter } from '@tildebase/tenant'
import { asSteps, BEGUN } from '@tildebase/tenant/internal'
import type { Call } from './call.ts'
import { contentReply, type Reply, written } from './reply.ts'
import { errorReply } from './respond.ts'
import { hex } from './rest/manifest.ts'
import { redacted } from './watch/redact.ts'

const MAX_KEY = 255

type KeptAnswer = NonNullable<ReturnType<TenantWriter['answers']['get']>>

/** The requests in progress that take their time and are to be done once. */
const UNDER_WAY = new Set<string>()

/** A request that takes its time and is to be done once, and whether it has written. */
interface Run {
  readonly scope: string
  wrote: boolean
}

const RUNS = new WeakMap<Call, Run>()

/** Whether a request is to be done once. */
export function isOnce({ request }: Call): boolean {
  return request.method === 'POST' && request.headers['idempotency-key'] !== undefined
}

/** Runs a POST once per Idempotency-Key. The answer is kept in the transaction of the write, so a crash keeps both or none. */
export function remember(call: Call, write: TenantWriter, work: () => Stepwise<Reply>): Stepwise<Reply> {
  const scope = scopeOf(call)
  return scope === null ? work() : rememberIn(scope, call, write, work)
}

function* rememberIn(scope: string, call: Call, write: TenantWriter, work: () => Stepwise<Reply>): Steps<Reply> {
  const fingerprint = fingerprintOf(call, write)
  const known = replayed(write, scope, fingerprint)
  if (known) return known
  const reply = yield* asSteps(work())
  return reply.status < 400 ? kept(call, write, scope, fingerprint, reply) : reply
}

/**
 * The same for a POST that takes its time. While it is in progress a second one is refused. That it has begun is kept
 * before its first write, its answer at its end: what was cut off in between is refused when it comes again.
 */
export async function rememberLong(call: Call, work: (call: Call) => Promise<Reply>): Promise<Reply> {
  const scope = scopeOf(call)
  if (scope === null) return work(call)
  const name = `${call.tenant.slug} ${scope}`
  if (UNDER_WAY.has(name)) {
    throw new Problem('in_flight', 'The first request with this Idempotency-Key is still in progress.', {
      field: 'Idempotency-Key',
    })
  }
  UNDER_WAY.add(name)
  try {
    return await runOnce(call, scope, work)
  } finally {
    UNDER_WAY.delete(name)
  }
}

async function runOnce(call: Call, scope: string, work: (call: Call) => Promise<Reply>): Promise<Reply> {
  const commit = <T>(one: (write: TenantWriter) => T) => call.tenant.write(call.grant, call.writes, call.budget, one)
  const { known, head } = await commit((write) => {
    const digest = fingerprintOf(call, write)
    const before = write.answers.get(scope)
    if (!before) write.answers.keep(scope, { fingerprint: digest, status: BEGUN, headers: '{}', body: null })
    return { known: before, head: digest }
  })
  if (known) return replay(known, await fingerprintLike(known, head, call))
  const sum = new BodySum(call)
  const own: Call = isStreamed(call.request) ? { ...call, request: { ...call.request, body: sum.passing() } } : call
  const run: Run = { scope, wrote: false }
  RUNS.set(own, run)
  const reply = await work(own).catch((reason) => {
    // Code that failed may have written before: what it wrote has a correlation, and is not to be written again.
    run.wrote ||= reason instanceof Problem && typeof reason.about.correlation === 'string'
    return errorReply(reason, call.requestId, call.report)
  })
  const fingerprint = own === call ? head : `${head} ${sum.size} ${sum.digest()}`
  return commit((write) => {
    if (reply.status < 400 || run.wrote) return kept(call, write, scope, fingerprint, reply)
    write.answers.drop(scope)
    return reply
  })
}

/** The fingerprint of a request, with as much of a body that streams by as the known request was read. */
async function fingerprintLike({ fingerprint, status }: KeptAnswer, head: string, call: Call): Promise<string> {
  const [first, size] = fingerprint.split(' ')
  if (size === undefined || first !== head) return head
  const sum = new BodySum(call, Number(size))
  for await (const _ of sum.passing()) if (sum.isOver) break
  const isLonger = sum.isOver && status < 400
  return `${head} ${isLonger ? sum.size + 1 : sum.size} ${sum.digest()}`
}

/** The length and the digest of a body that streams by, or of its first bytes. */
class BodySum {
  readonly #body: AsyncIterable<Uint8Array>
  readonly #hasher: ReturnType<Call['read']['hasher']>
  readonly #most: number
  size = 0
  /** Whether there was more than the first bytes. */
  isOver = false

  constructor({ request, read }: Call, most = Number.POSITIVE_INFINITY) {
    this.#body = request.body as AsyncIterable<Uint8Array>
    this.#hasher = read.hasher()
    this.#most = most
  }

  async *passing(): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.#body) {
      const first = chunk.subarray(0, this.#most - this.size)
      this.#hasher.update(first)
      this.size += first.length
      this.isOver = first.length < chunk.length
      yield chunk
    }
  }

  digest(): string {
    return hex(this.#hasher.digest())
  }
}

function isStreamed({ body }: Call['request']): boolean {
  return body !== null && !(body instanceof Uint8Array)
}

/** Notes what a request has written so far, in the same transaction: a client that sends it again after a crash learns it. */
export function noteWritten(call: Call, write: TenantWriter, progress: JsonObject): void {
  const run = RUNS.get(call)
  if (!run) return
  run.wrote = true
  write.answers.note(run.scope, JSON.stringify(progress))
}

/** Whose key it is, and for what: null when the request has none. */
function scopeOf(call: Call): string | null {
  if (!isOnce(call)) return null
  const key = call.request.headers['idempotency-key']!
  if (key === '' || key.length > MAX_KEY) {
    throw new Problem('invalid_parameter', `An Idempotency-Key has 1 to ${MAX_KEY} characters.`, {
      field: 'Idempotency-Key',
    })
  }
  return JSON.stringify([...whose(call.grant), call.request.method, call.request.path, key])
}

/** An agent has its own answers for each person that it acts for. */
function whose({ actor, onBehalfOf }: Call['grant']): string[] {
  return onBehalfOf === undefined ? [actor] : [actor, onBehalfOf]
}

/** What tells one request from another. Of a body that streams by it has what the headers say. */
function fingerprintOf({ request }: Call, { answers }: TenantWriter): string {
  const { headers, body, query } = request
  const streamed = ['content-type', 'content-encoding', 'content-length'].map((name) => headers[name] ?? '').join('\n')
  return answers.digest(query, '\n', body instanceof Uint8Array ? body : body === null ? '' : streamed)
}

/** The answer that was given before, or null. */
function replayed(write: TenantWriter, scope: string, fingerprint: string): Reply | null {
  const known = write.answers.get(scope)
  return known ? replay(known, fingerprint) : null
}

function replay(known: KeptAnswer, fingerprint: string): Reply {
  if (known.fingerprint !== fingerprint) {
    throw new Problem(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another body. Use a new key for a new request.',
      { field: 'Idempotency-Key' },
    )
  }
  const { status, headers, body } = known
  if (status === BEGUN) throw cutOff(JSON.parse(body ?? '{}'))
  const again = { ...JSON.parse(headers), 'idempotency-replayed': 'true' }
  if (body === null) return { status, headers: again, content: null }
  return contentReply(status, { value: () => JSON.parse(body), text: () => body }, again)
}

function cutOff(progress: JsonObject): Problem {
  return new Problem(
    'conflict',
    'The first request with this Idempotency-Key was interrupted and may be partly done. Check the data, and send the rest with a new key.',
    { field: 'Idempotency-Key', ...progress },
  )
}

/** Keeps an answer without the secrets that it shows once. */
function kept(call: Call, write: TenantWriter, scope: string, fingerprint: string, reply: Reply): Reply {
  if (reply.stream) return reply
  const { secrets } = call.writes
  const given = written(reply)
  const shown =
    secrets.size > 0 && reply.content ? JSON.stringify(redacted(reply.content.value(), secrets)) : given.text
  const headers = JSON.stringify(reply.headers)
  write.answers.keep(scope, { fingerprint, status: reply.status, headers, body: shown })
  return given
}
