import { createReadStream, createWriteStream, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Problem } from '@tildebase/nouns'
import { limitOf, offsetOf } from '@tildebase/tenant'
import type { Verdict } from '@tildebase/tenant/host'
import { parseQuery } from '../call.ts'
import type { OperatorActions } from '../host/operator.ts'
import type { SigningKey } from '../host/signing-keys.ts'
import type { HttpRequest, HttpResponse } from '../http.ts'
import { parseCreateRequest, parseForkRequest, parseLogRequest } from '../log-request.ts'
import { empty, json, render } from '../reply.ts'
import type { AdminTask, CopyResult } from './admin-tasks.ts'
import type { TenantFiles } from './files.ts'
import type { OperatorJournal } from './operator-journal.ts'
import type { Restoring } from './restoring.ts'
import type { FileThread } from './whole-files/thread.ts'

/** What the operator's actions need of the host. */
export interface AdminDeps {
  readonly files: TenantFiles
  /** A folder for files on their way. */
  readonly scratch: string
  readonly journal: OperatorJournal
  readonly restoring: Restoring
  /** Does a task in the thread of the tenant. */
  readonly runTask: (slug: string, task: AdminTask) => Promise<unknown>
  /** Works on files next to all tenants. */
  readonly fileThread: Pick<FileThread, 'run'>
  readonly isQuarantined: (slug: string) => boolean
  /** Ends the quarantine of a tenant; false when it was in none. */
  readonly release: (slug: string) => boolean
  readonly cancelAlarm: (slug: string) => void
  /** Makes a new key that signs checkpoints. */
  readonly rotateKey: () => Promise<SigningKey>
  /** Opens a tenant soon, so that it does what is due. */
  readonly wake: (slug: string) => void
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
    rotateKey: () => recorded('rotate', '', async () => render(json(201, await deps.rotateKey()))),
    info: async (slug) => render(json(200, await runTask(slug, { do: 'info' }))),
    verify: (slug) => verify(slug, deps),
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
      const { seq } = (await deps.runTask(slug, { do: 'copy', path, asOf })) as CopyResult
      await deps.fileThread.run({ do: 'detach', path, seq, origin: slug })
      const taken = await adopt(to, path, deps)
      deps.wake(to)
      return render(json(201, taken))
    } finally {
      removeFile(path)
    }
  })
}

/** Verifies a copy, so that the tenant continues meanwhile. */
async function verify(slug: string, deps: AdminDeps): Promise<HttpResponse> {
  const path = scratchPath(deps, slug)
  try {
    await deps.runTask(slug, { do: 'copy', path, asOf: null })
    const verdict = await deps.fileThread.run({ do: 'verify', slug, path })
    return render(json(200, { tenant: slug, ...verdict }))
  } finally {
    removeFile(path)
  }
}

/** Takes in a file only when it is a tenant's, of a layout that we know, and whole. */
async function adopt(slug: string, path: string, { fileThread, runTask }: AdminDeps): Promise<object> {
  const verdict = (await fileThread.run({ do: 'verify', slug, path })) as Verdict
  if (!verdict.ok) {
    throw new Problem('validation_error', `The file is not whole: ${verdict.faults[0]?.message}`, {
      details: [...verdict.faults],
    })
  }
  await fileThread.run({ do: 'forgetTimers', path })
  await runTask(slug, { do: 'adopt', path })
  return { tenant: slug, events: verdict.events }
}

async function backup(slug: string, deps: AdminDeps): Promise<HttpResponse> {
  const path = scratchPath(deps, slug)
  await deps.runTask(slug, { do: 'copy', path, asOf: null })
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
      const taken = await (how === 'adopt' ? adopt(slug, path, deps) : deps.runTask(slug, { do: how, path }))
      deps.wake(slug)
      return render(json(201, taken as object))
    } finally {
      removeFile(path)
      // A thread that died could not remove the tenant that it was making.
      removeFile(`${path}.new`)
    }
  }
  // A log may continue after the last event of a tenant: that one stays in use.
  if (how === 'replay' && deps.files.has(slug)) return takeIn()
  deps.files.demandFree(slug)
  return deps.restoring.during(slug, takeIn)
}

/** Removes a database and what SQLite keeps next to it. */
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
