import { isPlainObject, Problem } from '@tildebase/nouns'
import { tenantOfSecret } from '@tildebase/tenant'
import { parseBody } from '../doors/call.ts'
import type { Tenants } from '../doors/gateway.ts'
import type { HttpRequest, HttpResponse } from '../doors/http.ts'
import { render } from '../doors/reply.ts'
import { errorReply } from '../doors/respond.ts'
import type { Sender } from '../doors/sender.ts'
import { type RequestTarget, slugOf } from '../doors/target.ts'
import { withBody } from './fetch-adapter.ts'

/** The body of a request that merges a fork. */
interface MergeRequest {
  readonly fork: string
  /** A key of the fork, from senders whose own key does not open it. */
  readonly key: string | null
  readonly rest: { readonly [name: string]: unknown }
}

/**
 * The same tenants, one of which can be asked for a changeset from what its fork did: `POST /changesets {"from": "fork"}`.
 * No tenant reaches another. The host reads the fork with the sender's key and sends the tenant what it read.
 */
export function mergingForks(tenants: Tenants, bodyLimit: number): Tenants {
  return {
    answer: (slug, ask, target, sender, requestId) => {
      const isCreation = ask.method === 'POST' && target.segments.length === 1 && NAMES.has(target.segments[0]!)
      if (!isCreation) return tenants.answer(slug, ask, target, sender, requestId)
      return merge(tenants, slug, ask, target, sender, requestId, bodyLimit)
    },
    verify: (slug, secret) => tenants.verify(slug, secret),
  }
}

const NAMES = new Set(['changesets', 'Changeset'])

async function merge(
  tenants: Tenants,
  slug: string,
  asked: HttpRequest,
  target: RequestTarget,
  sender: Sender,
  requestId: string,
  bodyLimit: number,
): Promise<HttpResponse> {
  const ask = await withBody(asked, bodyLimit)
  const request = mergeRequest(ask)
  if (request === null) return tenants.answer(slug, ask, target, sender, requestId)
  try {
    const { origin, operations, skipped } = await readFork(tenants, request, ask, target, sender, requestId)
    if (origin.tenant !== slug) {
      throw new Problem('conflict', `${request.fork} is a fork of ${origin.tenant}, not of ${slug}.`, { field: 'from' })
    }
    if (operations.length === 0) {
      throw new Problem('invalid_operation', `${request.fork} has no changes since it was created.`, { field: 'from' })
    }
    const { title = `Changes of ${request.fork}`, ...rest } = request.rest
    const body = { ...rest, title, from: request.fork, base: origin.seq, operations }
    const bytes = new TextEncoder().encode(JSON.stringify(body))
    const answer = await tenants.answer(slug, { ...ask, body: bytes }, target, sender, requestId)
    return withSkipped(answer, skipped)
  } catch (reason) {
    if (!(reason instanceof Problem)) throw reason
    return render(errorReply(reason, requestId, () => {}))
  }
}

function mergeRequest({ body }: HttpRequest): MergeRequest | null {
  let given: unknown
  try {
    given = parseBody(body as Uint8Array | null)
  } catch {
    // The tenant says what is wrong with it.
    return null
  }
  if (!isPlainObject(given) || given.from === undefined || given.operations !== undefined) return null
  const { from, key = null, ...rest } = given
  if (typeof from !== 'string') throw new Problem('invalid_body', 'from must be the name of a fork.', { field: 'from' })
  if (key !== null && typeof key !== 'string')
    throw new Problem('invalid_body', 'key must be a key of the fork.', { field: 'key' })
  return { fork: slugOf(from), key, rest }
}

interface Fork {
  readonly origin: { readonly tenant: string; readonly seq: number }
  readonly operations: readonly unknown[]
  readonly skipped: { readonly [type: string]: number }
}

/** What the fork did, as the sender may see it there. */
async function readFork(
  tenants: Tenants,
  { fork, key }: MergeRequest,
  ask: HttpRequest,
  target: RequestTarget,
  sender: Sender,
  requestId: string,
): Promise<Fork> {
  const reader = await readerOf(tenants, fork, key, sender)
  const inner = { ...ask, method: 'GET', path: `/~${fork}/fork`, query: '', headers: {}, body: null }
  const place = { ...target, tenant: fork, segments: ['fork'] }
  const { status, body } = await tenants.answer(fork, inner, place, reader, requestId)
  const answer = JSON.parse(await textOf(body))
  if (status === 200) return answer
  const { error, message, requestId: _, ...about } = answer
  throw new Problem(error, `The fork ${fork}: ${message}`, { ...about, field: 'from' })
}

/** The grant that reads the fork: of the operator, or of the key in the request. */
async function readerOf(tenants: Tenants, fork: string, key: string | null, sender: Sender): Promise<Sender> {
  if (key === null && sender.kind === 'operator') return sender
  const isKnown = key !== null && tenantOfSecret(key) === fork && (await tenants.verify(fork, key))
  if (isKnown) return { kind: 'secret', secret: key }
  throw new Problem('forbidden', `Reading the fork ${fork} needs a key of it: {"from": "${fork}", "key": "…"}.`, {
    field: 'key',
  })
}

/** The answer with what was left out of the fork. */
async function withSkipped(answer: HttpResponse, skipped: Fork['skipped']): Promise<HttpResponse> {
  if (answer.status !== 201) return answer
  return { ...answer, body: JSON.stringify({ ...JSON.parse(await textOf(answer.body)), skipped }) }
}

async function textOf(body: HttpResponse['body']): Promise<string> {
  if (body === null) return 'null'
  if (typeof body === 'string') return body
  if (body instanceof Uint8Array) return new TextDecoder().decode(body)
  const decoder = new TextDecoder()
  let text = ''
  for await (const part of body) text += typeof part === 'string' ? part : decoder.decode(part, { stream: true })
  return text + decoder.decode()
}
