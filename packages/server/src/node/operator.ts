import { createReadStream, createWriteStream, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Problem } from '@tildebase/nouns'
import { type Sender, unauthorized } from '../app.ts'
import { empty, type HttpRequest, type HttpResponse, json } from '../http.ts'
import { parseForkRequest, parseLogRequest } from '../log-request.ts'
import { slugOf } from '../target.ts'
import type { AdminTask } from './admin-tasks.ts'
import type { TenantFiles } from './files.ts'

export interface OperatorOptions {
  readonly files: TenantFiles
  /** A folder for files on their way. */
  readonly scratch: string
  readonly keep: (slug: string, task: AdminTask) => Promise<unknown>
  readonly unbook: (slug: string) => void
}

/** `/operator/tenants…`: what only the operator's key may do, to tenants as a whole. */
export async function operator(
  ask: HttpRequest,
  segments: readonly string[],
  sender: Sender,
  options: OperatorOptions,
): Promise<HttpResponse> {
  if (sender.kind === 'nobody') throw unauthorized()
  if (sender.kind !== 'operator') throw new Problem('forbidden', 'Only the key of the operator opens this.')
  const [, area, name, action = '', ...rest] = segments
  if (area !== 'tenants' || rest.length > 0)
    throw new Problem('unknown_path', 'There is /operator/tenants, and what lies below it.')
  if (name === undefined) return only(ask, 'GET', () => list(options))
  const slug = slugOf(name)
  switch (action) {
    case '':
      if (ask.method === 'DELETE') return remove(slug, options)
      return only(ask, 'GET', async () => json(200, await options.keep(slug, { do: 'info' })), 'GET, DELETE')
    case 'verify':
      return only(ask, 'GET', async () => json(200, await options.keep(slug, { do: 'verify' })))
    case 'fork':
      return only(ask, 'POST', () => fork(slug, ask, options))
    case 'backup':
      return only(ask, 'GET', () => backup(slug, options))
    case 'restore':
      return only(ask, 'PUT', () => restore(slug, ask, 'adopt', options))
    case 'log':
      if (ask.method === 'PUT') return restore(slug, ask, 'replay', options)
      return only(ask, 'GET', () => log(slug, ask, options), 'GET, PUT')
    default:
      throw new Problem('unknown_path', 'A tenant has verify, fork, backup, restore and log.')
  }
}

function only(
  ask: HttpRequest,
  method: string,
  run: () => HttpResponse | Promise<HttpResponse>,
  allow = method,
): HttpResponse | Promise<HttpResponse> {
  if (ask.method === method || (method === 'GET' && ask.method === 'HEAD')) return run()
  throw new Problem('method_not_allowed', `${ask.method} is not possible here; ${allow} is.`, { allow })
}

function list({ files }: OperatorOptions): HttpResponse {
  const results = files
    .slugs()
    .sort()
    .map((tenant) => ({ tenant, bytes: statSync(files.pathOf(tenant)).size }))
  return json(200, { results, total: results.length })
}

async function remove(slug: string, { keep, unbook }: OperatorOptions): Promise<HttpResponse> {
  await keep(slug, { do: 'delete' })
  unbook(slug)
  return empty(204)
}

async function fork(slug: string, ask: HttpRequest, options: OperatorOptions): Promise<HttpResponse> {
  const { to, asOf } = parseForkRequest(ask.body as Uint8Array | null)
  const path = scratchPath(options, to)
  try {
    await options.keep(slug, { do: 'copy', path, asOf, detached: true })
    return json(201, await options.keep(to, { do: 'adopt', path }))
  } finally {
    rmSync(path, { force: true })
  }
}

async function backup(slug: string, options: OperatorOptions): Promise<HttpResponse> {
  const path = scratchPath(options, slug)
  await options.keep(slug, { do: 'copy', path, asOf: null, detached: false })
  return {
    status: 200,
    headers: {
      'content-type': 'application/vnd.sqlite3',
      'content-length': String(statSync(path).size),
      'content-disposition': `attachment; filename="${slug}.db"`,
    },
    body: once(path),
  }
}

async function log(slug: string, ask: HttpRequest, options: OperatorOptions): Promise<HttpResponse> {
  const path = scratchPath(options, slug)
  await options.keep(slug, { do: 'log', path, question: parseLogRequest(ask.query) })
  return { status: 200, headers: { 'content-type': 'application/x-ndjson' }, body: once(path) }
}

/** Takes in the file of a backup, or the lines of a log. */
async function restore(
  slug: string,
  ask: HttpRequest,
  how: 'adopt' | 'replay',
  options: OperatorOptions,
): Promise<HttpResponse> {
  if (ask.body === null) throw new Problem('invalid_body', 'Send the file of a backup as the body.')
  const path = scratchPath(options, slug)
  try {
    const body = ask.body instanceof Uint8Array ? [ask.body] : ask.body
    await pipeline(Readable.from(body), createWriteStream(path, { mode: 0o600 }))
    return json(201, await options.keep(slug, { do: how, path }))
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
  }
}

/** The content of a file that is gone once it has been read. */
async function* once(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path)
  } finally {
    rmSync(path, { force: true })
  }
}

let scratch = 0

function scratchPath(options: OperatorOptions, slug: string): string {
  return join(options.scratch, `${slug}.${process.pid}.${++scratch}.db`)
}
