import { createReadStream, createWriteStream, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Problem } from '@tildebase/nouns'
import { limitOf, offsetOf } from '@tildebase/tenant'
import { parseQuery } from '../call.ts'
import type { OperatorActions } from '../host/operator.ts'
import type { HttpRequest, HttpResponse } from '../http.ts'
import { parseCreateRequest, parseForkRequest, parseLogRequest } from '../log-request.ts'
import { empty, json, render } from '../reply.ts'
import type { AdminTask } from './admin-tasks.ts'
import type { TenantFiles } from './files.ts'
import type { OperatorJournal } from './operator-journal.ts'
import type { Restoring } from './restoring.ts'

/** What the operator's actions need of the host. */
export interface AdminDeps {
  readonly files: TenantFiles
  /** A folder for files on their way. */
  readonly scratch: string
  readonly journal: OperatorJournal
  readonly restoring: Restoring
  readonly runTask: (slug: string, task: AdminTask) => Promise<unknown>
  readonly isQuarantined: (slug: string) => boolean
  /** Ends the quarantine of a tenant; false when it was in none. */
  readonly release: (slug: string) => boolean
  readonly cancelAlarm: (slug: string) => void
}

const MOST_LISTED = 10_000

/** What the operator can do with tenants as a whole on this host. Each action is written into the operator's log. */
export function operatorActions(deps: AdminDeps): OperatorActions {
  const { runTask, journal } = deps
  const recorded = async (action: string, slug: string, work: () => Promise<HttpResponse>, facts: object = {}) => {
    const response = await work()
    journal.add(action, slug, facts)
    return response
  }
  return {
    list: (request) => list(request, deps),
    journal: ({ query }) => journal.page(parseQuery(query)),
    info: async (slug) => render(json(200, await runTask(slug, { do: 'info' }))),
    verify: async (slug) => render(json(200, await runTask(slug, { do: 'verify' }))),
    remove: (slug) =>
      recorded('delete', slug, async () => {
        await runTask(slug, { do: 'delete' })
        deps.cancelAlarm(slug)
        return render(empty(204))
      }),
    create: (request) => {
      const slug = parseCreateRequest(request.body as Uint8Array | null)
      deps.restoring.refuse(slug)
      return recorded('create', slug, async () => render(json(201, await runTask(slug, { do: 'create' }))))
    },
    release: (slug) => {
      deps.files.demandThere(slug)
      return recorded('release', slug, async () => render(json(200, { tenant: slug, released: deps.release(slug) })))
    },
    fork: (slug, request) => {
      const { to, asOf } = parseForkRequest(request.body as Uint8Array | null)
      return recorded('fork', slug, () => fork(slug, to, asOf, deps), { to, asOf })
    },
    backup: (slug) => recorded('backup', slug, () => backup(slug, deps)),
    restore: (slug, request) => recorded('restore', slug, () => restore(slug, request, 'adopt', deps)),
    readLog: (slug, request) => recorded('backup', slug, () => readLog(slug, request, deps), { form: 'log' }),
    replayLog: (slug, request) =>
      recorded('restore', slug, () => restore(slug, request, 'replay', deps), { form: 'log' }),
  }
}

function list({ query }: HttpRequest, { files, isQuarantined }: AdminDeps): HttpResponse {
  const params = parseQuery(query)
  const limit = params.has('limit') ? limitOf(params.get('limit'), MOST_LISTED) : MOST_LISTED
  const offset = params.has('offset') ? offsetOf(params.get('offset')) : 0
  const slugs = files.slugs().sort()
  const results = slugs.slice(offset, offset + limit).map((tenant) => ({
    tenant,
    bytes: statSync(files.pathOf(tenant)).size,
    ...(isQuarantined(tenant) && { quarantined: true }),
  }))
  return render(json(200, { results, total: slugs.length, hasMore: offset + limit < slugs.length }))
}

async function fork(slug: string, to: string, asOf: number | null, deps: AdminDeps): Promise<HttpResponse> {
  deps.files.demandFree(to)
  return deps.restoring.during(to, async () => {
    const path = scratchPath(deps, to)
    try {
      await deps.runTask(slug, { do: 'copy', path, asOf, detached: true })
      return render(json(201, await deps.runTask(to, { do: 'adopt', path })))
    } finally {
      removeFile(path)
    }
  })
}

async function backup(slug: string, deps: AdminDeps): Promise<HttpResponse> {
  const path = scratchPath(deps, slug)
  await deps.runTask(slug, { do: 'copy', path, asOf: null, detached: false })
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

async function readLog(slug: string, request: HttpRequest, deps: AdminDeps): Promise<HttpResponse> {
  const path = scratchPath(deps, slug)
  await deps.runTask(slug, { do: 'log', path, question: parseLogRequest(request.query) })
  return { status: 200, headers: { 'content-type': 'application/x-ndjson' }, body: once(path) }
}

/** Takes in the file of a backup, or the lines of a log. */
async function restore(
  slug: string,
  request: HttpRequest,
  how: 'adopt' | 'replay',
  deps: AdminDeps,
): Promise<HttpResponse> {
  const { body } = request
  if (body === null) throw new Problem('invalid_body', 'Send the file of a backup as the body.')
  const takeIn = async () => {
    const path = scratchPath(deps, slug)
    try {
      await pipeline(
        Readable.from(body instanceof Uint8Array ? [body] : body),
        createWriteStream(path, { mode: 0o600 }),
      )
      return render(json(201, await deps.runTask(slug, { do: how, path })))
    } finally {
      removeFile(path)
      // A thread that died could not remove the tenant that it was making.
      removeFile(`${path}.new`)
    }
  }
  // A log may go on after the last event of a tenant: that one stays in use.
  if (how === 'replay' && deps.files.has(slug)) return takeIn()
  deps.files.demandFree(slug)
  return deps.restoring.during(slug, takeIn)
}

/** Removes a database and what SQLite keeps beside it. */
function removeFile(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
}

/** The content of a file that is deleted once it has been read. */
async function* once(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path)
  } finally {
    rmSync(path, { force: true })
  }
}

let scratch = 0

function scratchPath(deps: AdminDeps, slug: string): string {
  return join(deps.scratch, `${slug}.${process.pid}.${++scratch}.db`)
}
