import { statSync } from 'node:fs'
import type { AsOf } from '@tildebase/nouns'
import type { Verdict } from '@tildebase/tenant/internal'
import type { HttpRequest, HttpResponse } from '../../doors/http.ts'
import { empty, json, render } from '../../doors/reply.ts'
import type { LogRequest } from '../../doors/watch/log-request.ts'
import type { OperatorHost, OperatorTask } from '../../host/operator.ts'
import { listTenants } from '../tenants/tenant-list.ts'
import type { CopyResult } from './admin-tasks.ts'
import { addBytes, copyContents, readContent, verifyContents, writeContent } from './contents.ts'
import { setAside, writeSalvaged } from './repair.ts'
import { type AdminDeps, adopt, restoreFile, restoreInfo, restoreLog, verifyFile } from './restore.ts'
import { readOnce, removeDatabase } from './scratch.ts'
import type { BegunTask, Measure } from './task-board.ts'

/** A task that no board shows. */
const HIDDEN: BegunTask = { step: () => {}, end: () => {} }

/** What this host does for the operator. */
export function nodeOperator(deps: AdminDeps): OperatorHost {
  const { journal } = deps
  return {
    run: (slug, task, request) => run(slug, task, request, deps),
    list: (request) => listTenants(request, deps),
    journal: (request) => journal.page(request),
    record: (action, slug, facts) => journal.add(action, slug, facts),
    allTasks: deps.allTasks,
    rotateKey: deps.rotateKey,
    impossible: {},
  }
}

async function run(slug: string, task: OperatorTask, request: HttpRequest, deps: AdminDeps): Promise<HttpResponse> {
  const { runTask, restoring } = deps
  switch (task.do) {
    case 'info':
      return (await restoreInfo(slug, deps)) ?? render(json(200, await runTask(slug, { do: 'info' })))
    case 'tasks':
      return render(json(200, { results: deps.tasks.list(slug) }))
    case 'verify':
      return render(json(200, { tenant: slug, ...(await verify(slug, deps)) }))
    case 'create':
      restoring.refuse(slug)
      return render(json(201, await runTask(slug, { do: 'create' })))
    case 'delete':
      return remove(slug, deps)
    case 'release':
      deps.files.demandThere(slug)
      return render(json(200, { tenant: slug, released: deps.release(slug) }))
    case 'setAside':
      return setAside(slug, deps)
    case 'salvage':
      return salvaged(slug, task.after, deps)
    case 'fork':
      return fork(slug, task.to, task.asOf, deps)
    case 'backup':
      return backup(slug, deps)
    case 'restore':
      return restoreFile(slug, request, deps)
    case 'log':
      return readLog(slug, task.question, deps)
    case 'replay':
      return restoreLog(slug, task, request, deps)
    case 'readContent':
      return readContent(slug, task.hash, deps)
    case 'writeContent':
      return writeContent(slug, task.hash, request, deps)
  }
}

/** Removes a tenant with its files. Until these are gone nothing makes another tenant of this name, which would lose its own. */
function remove(slug: string, { files, restoring, runTask, blobs, cancelAlarm }: AdminDeps): Promise<HttpResponse> {
  return restoring.duringDeletion(slug, async () => {
    if (restoring.progressOf(slug)) restoring.giveUp(slug)
    else {
      // A process that ended in the middle may have left files without a tenant.
      if (!files.has(slug)) await blobs?.drop(slug)
      await runTask(slug, { do: 'delete' })
    }
    await blobs?.drop(slug)
    cancelAlarm(slug)
    return render(empty(204))
  })
}

async function fork(slug: string, to: string, asOf: AsOf | null, deps: AdminDeps): Promise<HttpResponse> {
  const { files, restoring, scratch, tasks, runTask, fileThread } = deps
  files.demandFree(to)
  return restoring.during(to, () =>
    tasks.during(slug, 'fork', async (task) => {
      const path = scratch.pathFor(to)
      try {
        task.step('copy', () => copied(path, files.pathOf(slug)))
        const { seq } = (await runTask(slug, { do: 'copy', path, asOf })) as CopyResult
        task.step('detach')
        await fileThread.run({ do: 'detach', path, seq, origin: slug })
        await copyContents(path, slug, to, deps.blobs)
        const taken = await adopt(to, path, deps, task)
        deps.wake(to)
        return render(json(201, taken))
      } finally {
        await removeDatabase(path)
      }
    }),
  )
}

/** Verifies a copy, so that the tenant continues meanwhile. */
export async function verify(slug: string, deps: AdminDeps): Promise<Verdict> {
  const path = deps.scratch.pathFor(slug)
  return deps.tasks.during(slug, 'verify', async (task) => {
    try {
      task.step('copy', () => copied(path, deps.files.pathOf(slug)))
      await deps.runTask(slug, { do: 'copy', path, asOf: null, changed: true })
      const verdict = await verifyFile(slug, path, deps, task)
      return await verifyContents(path, slug, deps.blobs, verdict)
    } finally {
      await removeDatabase(path)
    }
  })
}

async function backup(slug: string, deps: AdminDeps): Promise<HttpResponse> {
  const headers = (size: number) => ({
    'content-type': 'application/vnd.sqlite3',
    // Without it the secrets in the file cannot be read.
    'x-tilde-needs': 'TILDE_SECRET_KEY',
    'content-length': String(size),
    'content-disposition': `attachment; filename="${slug}.db"`,
  })
  const task = deps.tasks.begin(slug, 'backup')
  return sent(slug, deps, task, headers, async (path) => {
    task.step('copy', () => copied(path, deps.files.pathOf(slug)))
    await deps.runTask(slug, { do: 'copy', path, asOf: null })
    await addBytes(path, slug, deps.blobs)
  })
}

async function readLog(slug: string, question: LogRequest, deps: AdminDeps): Promise<HttpResponse> {
  // A reader that waits for the next event follows the tenant without end: that is not a task.
  const task = question.waitMs > 0 ? HIDDEN : deps.tasks.begin(slug, 'backup')
  return sent(
    slug,
    deps,
    task,
    () => ({ 'content-type': 'application/x-ndjson' }),
    async (path) => {
      task.step('read')
      await deps.runTask(slug, { do: 'log', path, question })
    },
  )
}

function salvaged(slug: string, after: number, deps: AdminDeps): Promise<HttpResponse> {
  const task = deps.tasks.begin(slug, 'salvage')
  const headers = () => ({ 'content-type': 'application/x-ndjson' })
  return sent(slug, deps, task, headers, (path) => writeSalvaged(slug, after, deps, path))
}

/** Answers with a file that the work makes. The task ends when the file has been read. */
async function sent(
  slug: string,
  { scratch }: AdminDeps,
  task: BegunTask,
  headers: (size: number) => HttpResponse['headers'],
  work: (path: string) => Promise<void>,
): Promise<HttpResponse> {
  const path = scratch.pathFor(slug)
  try {
    await work(path)
    const { size } = statSync(path)
    let done = 0
    task.step('send', () => ({ done, of: size, unit: 'bytes' }))
    const body = readOnce(
      path,
      (bytes) => {
        done += bytes
      },
      task.end,
    )
    return { status: 200, headers: headers(size), body }
  } catch (reason) {
    task.end()
    removeDatabase(path)
    throw reason
  }
}

/** How much of a file is in its copy. */
function copied(path: string, from: string): Measure | null {
  const [copy, whole] = [path, from].map((one) => statSync(one, { throwIfNoEntry: false })?.size ?? 0)
  return { done: Math.min(copy!, whole!), of: whole!, unit: 'bytes' }
}
