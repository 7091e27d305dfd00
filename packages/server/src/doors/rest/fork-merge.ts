import { isPlainObject, Problem } from '@tildebase/nouns'
import { type ForkFile, type ReceivedContent, tenantOfSecret } from '@tildebase/tenant/internal'
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
  readonly files: readonly ForkFile[]
  readonly skipped: ForkMerge['skipped']
}

/**
 * Reads the changes of a fork for `POST /changesets {"from": "fork"}`. Null for other bodies. No tenant reaches another:
 * the host reads the fork with a credential that the caller has for it.
 */
export function readFork(call: Call): Promise<Call> | null {
  const { body } = call
  if (!isPlainObject(body) || body.from === undefined || body.operations !== undefined) return null
  return merged(call, body)
}

async function merged(call: Call, body: { readonly [name: string]: unknown }): Promise<Call> {
  const { from, key = null, ...given } = body
  if (typeof from !== 'string') throw new Problem('invalid_body', 'from must be the name of a fork.', { field: 'from' })
  if (key !== null && typeof key !== 'string')
    throw new Problem('invalid_body', 'key must be a key of the fork.', { field: 'key' })
  const fork = slugOf(from)
  const reader = readerOf(fork, key, call)
  const answer = await call.readOther(fork, 'fork', reader)
  const { origin, operations, files, skipped } = await changesOf(fork, answer)
  if (origin.tenant !== call.tenant.slug)
    throw new Problem('conflict', `${fork} is a fork of ${origin.tenant}, not of ${call.tenant.slug}.`, {
      field: 'from',
    })
  if (operations.length === 0)
    throw new Problem('invalid_operation', `${fork} has no changes since it was created.`, { field: 'from' })
  const { title = `Changes of ${fork}`, ...rest } = given
  const contents = await copyContents(call, fork, reader, files)
  const prepared: ForkMerge = { body: { ...rest, title, from: fork, base: origin.seq, operations }, skipped }
  return { ...call, prepared, writes: { ...call.writes, contents } }
}

/** The bytes of the fork's files, for the write that proposes its operations. */
async function copyContents(
  call: Call,
  fork: string,
  reader: Sender,
  files: readonly ForkFile[],
): Promise<readonly ReceivedContent[]> {
  const contents: ReceivedContent[] = []
  try {
    for (const file of files) {
      const content = await call.tenant.files.receive(bytesOf(call, fork, reader, file), file, file.size)
      contents.push(content)
      if (content.hash !== file.hash)
        throw new Problem('conflict', `The content of ${file.name} is damaged in ${fork}.`)
    }
    return contents
  } catch (reason) {
    await call.tenant.files.dropUnneeded(contents)
    throw reason
  }
}

/** One request for so many bytes: threads pass each other whole answers. */
const PORTION = 1_048_576

async function* bytesOf(call: Call, fork: string, reader: Sender, { size, at }: ForkFile): AsyncGenerator<Uint8Array> {
  const path = [at.type, at.id, at.field, ...(at.n === null ? [] : [at.n])].join('/')
  for (let from = 0; from < size; from += PORTION) {
    const range = `bytes=${from}-${Math.min(from + PORTION, size) - 1}`
    const answer = await call.readOther(fork, path, reader, { query: `asOf=${at.seq}`, range })
    if (answer.status !== 206) await changesOf(fork, answer)
    yield* chunksOf(answer.body)
  }
}

async function* chunksOf(body: HttpResponse['body']): AsyncGenerator<Uint8Array> {
  if (body === null) return
  const encoder = new TextEncoder()
  const chunks = typeof body === 'string' || body instanceof Uint8Array ? [body] : body
  for await (const chunk of chunks) yield typeof chunk === 'string' ? encoder.encode(chunk) : chunk
}

/** The credential that reads the fork: the operator's, or the key in the request. Wrong keys count for the caller's tenant. */
function readerOf(fork: string, key: string | null, { sender, tenant }: Call): Sender {
  if (key === null && sender.kind === 'operator') return sender
  if (key !== null && tenantOfSecret(key) === fork) return { kind: 'secret', secret: key, address: `~${tenant.slug}` }
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
