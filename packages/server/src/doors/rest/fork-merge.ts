import { isPlainObject, Problem } from '@tildebase/nouns'
import { tenantOfSecret } from '@tildebase/tenant/internal'
import type { Call } from '../call.ts'
import type { HttpResponse } from '../http.ts'
import { slugOf } from '../target.ts'
import type { Sender } from '../tenant-call.ts'

/** A changeset from a fork: its input, and the number of changes of each type that it leaves out. */
export interface ForkMerge {
  readonly body: { readonly [name: string]: unknown }
  readonly skipped: { readonly [type: string]: number }
}

interface ForkChanges {
  readonly origin: { readonly tenant: string; readonly seq: number }
  readonly operations: readonly unknown[]
  readonly skipped: ForkMerge['skipped']
}

/**
 * Reads the changes of a fork for `POST /changesets {"from": "fork"}`. Null for other bodies. No tenant reaches another:
 * the host reads the fork with a credential that the caller has for it.
 */
export function readFork(call: Call): Promise<Call> | null {
  const { body } = call
  if (!isPlainObject(body) || body.from === undefined || body.operations !== undefined) return null
  return merged(call, body).then((prepared) => ({ ...call, prepared }))
}

async function merged(call: Call, body: { readonly [name: string]: unknown }): Promise<ForkMerge> {
  const { from, key = null, ...given } = body
  if (typeof from !== 'string') throw new Problem('invalid_body', 'from must be the name of a fork.', { field: 'from' })
  if (key !== null && typeof key !== 'string')
    throw new Problem('invalid_body', 'key must be a key of the fork.', { field: 'key' })
  const fork = slugOf(from)
  const answer = await call.readOther(fork, 'fork', readerOf(fork, key, call.sender))
  const { origin, operations, skipped } = await changesOf(fork, answer)
  if (origin.tenant !== call.tenant.slug)
    throw new Problem('conflict', `${fork} is a fork of ${origin.tenant}, not of ${call.tenant.slug}.`, {
      field: 'from',
    })
  if (operations.length === 0)
    throw new Problem('invalid_operation', `${fork} has no changes since it was created.`, { field: 'from' })
  const { title = `Changes of ${fork}`, ...rest } = given
  return { body: { ...rest, title, from: fork, base: origin.seq, operations }, skipped }
}

/** The credential that reads the fork: the operator's, or the key in the request. */
function readerOf(fork: string, key: string | null, sender: Sender): Sender {
  if (key === null && sender.kind === 'operator') return sender
  if (key !== null && tenantOfSecret(key) === fork) return { kind: 'secret', secret: key }
  throw needsKey(fork)
}

async function changesOf(fork: string, { status, body }: HttpResponse): Promise<ForkChanges> {
  if (status === 401) throw needsKey(fork)
  const answer = JSON.parse(await textOf(body))
  if (status === 200) return answer
  const { error, message, requestId: _, ...about } = answer
  throw new Problem(error, `The fork ${fork}: ${message}`, { ...about, field: 'from' })
}

function needsKey(fork: string): Problem {
  return new Problem('forbidden', `Reading the fork ${fork} needs a key of it: {"from": "${fork}", "key": "…"}.`, {
    field: 'key',
  })
}

async function textOf(body: HttpResponse['body']): Promise<string> {
  if (body === null) return 'null'
  if (typeof body === 'string') return body
  const decoder = new TextDecoder()
  if (body instanceof Uint8Array) return decoder.decode(body)
  let text = ''
  for await (const part of body) text += typeof part === 'string' ? part : decoder.decode(part, { stream: true })
  return text + decoder.decode()
}
