import { open } from 'node:fs/promises'
import { Problem } from '@tildebase/nouns'
import type { Verdict } from '@tildebase/tenant/internal'
import type { HttpRequest, HttpResponse } from '../../doors/http.ts'
import { json, render } from '../../doors/reply.ts'
import type { SliceRequest } from '../../doors/watch/log-request.ts'
import { replayedReply, restoringReply } from '../../host/operator.ts'
import type { SigningKey } from '../../host/proof/signing-keys.ts'
import type { BlobStores } from '../files/blob-stores.ts'
import type { TenantFiles } from '../sqlite/files.ts'
import type { Restoring } from '../tenants/restoring.ts'
import type { Replayed } from '../threads/whole-files/tasks.ts'
import type { FileThread } from '../threads/whole-files/thread.ts'
import type { AdminTask } from './admin-tasks.ts'
import { takeBytes } from './contents.ts'
import type { OperatorJournal } from './operator-journal.ts'
import { removeDatabase, type Scratch } from './scratch.ts'
import type { Measure, Task, TaskBoard } from './task-board.ts'

/** Takes in the file of a backup. */
export async function restoreFile(slug: string, request: HttpRequest, deps: AdminDeps): Promise<HttpResponse> {
  deps.files.demandFree(slug)
  return deps.restoring.during(slug, () =>
    deps.tasks.during(slug, 'restore', (task) =>
      received(slug, request, deps, task, async (path) => {
        const missing = await takeBytes(path, slug, deps.blobs).catch(async (reason) => {
          // A file that is not whole is refused as such.
          await demandWhole(slug, path, deps, task)
          throw reason
        })
        const taken = await adopt(slug, path, deps, task)
        deps.wake(slug)
        return render(json(201, { ...taken, missing }))
      }),
    ),
  )
}

/**
 * Takes in the lines of a log, or a slice of them. A log may continue after the last event of a tenant: that one stays in use.
 * Where there is none, the slug is kept until the last slice has arrived.
 */
export async function restoreLog(
  slug: string,
  slice: SliceRequest,
  request: HttpRequest,
  deps: AdminDeps,
): Promise<HttpResponse> {
  const { files, restoring, runTask, restoreThread, tasks } = deps
  const { more } = slice
  const isSliced = more || restoring.progressOf(slug) !== null
  const takeIn = <T>(work: (path: string) => Promise<T>, before?: Promise<unknown>) =>
    tasks.during(slug, 'restore', (task) =>
      received(slug, request, deps, task, async (path) => {
        await before
        task.step('replay')
        return work(path)
      }),
    )
  const addTo = async (path: string) => {
    const { events } = (await runTask(slug, { do: 'replay', path, more })) as Pick<Replayed, 'events'>
    const missing = more ? [] : ((await runTask(slug, { do: 'missing' })) as string[])
    if (!more) deps.wake(slug)
    return replayedReply(slug, { more, isNew: false, events, missing, verified: false })
  }
  const make = async (path: string, into: string) => {
    try {
      const { events, missing } = (await restoreThread.run({ do: 'replay', slug, path, into, more })) as Replayed
      if (!more) await runTask(slug, { do: 'adopt', path: into })
      if (!more) deps.wake(slug)
      return { events, response: replayedReply(slug, { more, isNew: isSliced, events, missing, verified: true }) }
    } finally {
      if (!isSliced) await removeDatabase(into)
    }
  }
  if (files.has(slug)) return takeIn(addTo)
  restoreThread.prepare()
  if (!isSliced) return (await restoring.during(slug, () => takeIn((path) => make(path, `${path}.new`)))).response
  const into = restoring.pathOf(slug)
  return restoring.inTurn(slug, (before) =>
    takeInSlice(slug, slice, deps, () => {
      return takeIn((path) => {
        if (restoring.progressOf(slug) === null)
          throw new Problem('conflict', 'The slice before this one was refused.', { id: slug })
        return make(path, into)
      }, before)
    }),
  )
}

/** Keeps count of a restore in slices. One whose first slice is refused has not begun. */
async function takeInSlice(
  slug: string,
  { more, of }: SliceRequest,
  { restoring }: AdminDeps,
  takeIn: () => Promise<{ readonly events: number; readonly response: HttpResponse }>,
): Promise<HttpResponse> {
  const isFirst = restoring.progressOf(slug) === null
  if (isFirst) restoring.advance(slug, { events: 0, of })
  try {
    const { events, response } = await takeIn()
    if (more) restoring.advance(slug, { events, of: of ?? restoring.progressOf(slug)?.of ?? null })
    else restoring.giveUp(slug)
    return response
  } catch (reason) {
    const progress = restoring.progressOf(slug)
    if (isFirst) restoring.giveUp(slug)
    // Some of its events may have arrived.
    else if (progress) restoring.advance(slug, { ...progress, events: null })
    throw reason
  }
}

/** How far the restore of a slug has come, or null when there is none. */
export async function restoreInfo(slug: string, { restoring, runTask }: AdminDeps): Promise<HttpResponse | null> {
  const progress = restoring.progressOf(slug)
  if (progress === null) return null
  const count = () => runTask(slug, { do: 'countRestored', path: restoring.pathOf(slug) })
  const events = progress.events ?? ((await restoring.duringSlice(slug, count)) as number)
  restoring.advance(slug, { ...progress, events })
  return restoringReply(slug, events, progress.of)
}

/** Takes in a file only when it is a tenant's, of a layout that we know, and whole. */
export async function adopt(slug: string, path: string, deps: AdminDeps, task: Task): Promise<object> {
  const { fileThread, runTask } = deps
  const verdict = await demandWhole(slug, path, deps, task)
  await fileThread.run({ do: 'forgetTimers', path })
  await runTask(slug, { do: 'adopt', path })
  return { tenant: slug, events: verdict.events }
}

/** Refuses a file that is not whole. */
async function demandWhole(slug: string, path: string, deps: AdminDeps, task: Task): Promise<Verdict> {
  const verdict = await verifyFile(slug, path, deps, task)
  if (verdict.ok) return verdict
  throw new Problem('validation_error', `The file is not whole: ${verdict.faults[0]?.message}`, {
    details: [...verdict.faults],
  })
}

/** Verifies a file, and shows how far that is. */
export async function verifyFile(slug: string, path: string, deps: AdminDeps, task: Task): Promise<Verdict> {
  let measure: Measure | null = null
  task.step('verify', () => measure)
  const verdict = await deps.fileThread.run({ do: 'verify', slug, path }, (done, of) => {
    measure = { done, of, unit: 'events' }
  })
  return verdict as Verdict
}

/** Works on the body of a request as a file. */
async function received<T>(
  slug: string,
  { body, headers }: HttpRequest,
  { scratch }: AdminDeps,
  task: Task,
  work: (path: string) => Promise<T>,
): Promise<T> {
  if (body === null) throw new Problem('invalid_body', 'Send the file of a backup, or the lines of a log, as the body.')
  const path = scratch.pathFor(slug)
  try {
    let done = 0
    // The length of a packed body says nothing about the file.
    const of = headers['content-encoding'] === undefined ? Number(headers['content-length']) || null : null
    task.step('receive', () => ({ done, of, unit: 'bytes' }))
    await store(body instanceof Uint8Array ? [body] : body, path, (bytes) => {
      done += bytes
    })
    return await work(path)
  } finally {
    // The next slice does not wait for it. What is left of it is removed at the next start.
    removeDatabase(path).catch(() => {})
  }
}

/** How much of an upload may wait for the disk. The commits of all tenants wait with it. */
const MOST_UNSYNCED = 1_048_576

/** Writes chunks to a new file, and to the disk meanwhile. `tell` is called with the bytes of each. */
async function store(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  path: string,
  tell: (bytes: number) => void,
): Promise<void> {
  const file = await open(path, 'w', 0o600)
  try {
    let unsynced = 0
    for await (const chunk of chunks) {
      await file.writeFile(chunk)
      tell(chunk.length)
      unsynced += chunk.length
      if (unsynced < MOST_UNSYNCED) continue
      await file.datasync()
      unsynced = 0
    }
  } finally {
    await file.close()
  }
}

/** What the operator's actions need of the host. */
export interface AdminDeps {
  readonly files: TenantFiles
  readonly scratch: Scratch
  readonly journal: OperatorJournal
  readonly tasks: TaskBoard
  /** The tasks of all tenants: those of the operator, and long writes. */
  readonly allTasks: () => Promise<readonly object[]>
  readonly restoring: Restoring
  /** Does a task in the thread of the tenant. */
  readonly runTask: (slug: string, task: AdminTask) => Promise<unknown>
  /** Works on files next to all tenants. */
  readonly fileThread: Pick<FileThread, 'run'>
  /** Makes new tenants of logs, next to the other work on files. */
  readonly restoreThread: Pick<FileThread, 'run' | 'prepare'>
  /** The most bytes of a tenant; null means no limit. */
  readonly tenantLimit: number | null
  /** Where the bytes of files are; null where the host stores none. */
  readonly blobs: BlobStores | null
  readonly isQuarantined: (slug: string) => boolean
  /** Ends the quarantine of a tenant; false when it was in none. */
  readonly release: (slug: string) => boolean
  readonly cancelAlarm: (slug: string) => void
  /** Makes a new key that signs checkpoints. */
  readonly rotateKey: () => Promise<SigningKey>
  /** Opens a tenant soon, so that it does what is due. */
  readonly wake: (slug: string) => void
  /** What was wrong with a tenant when it was last verified; null if nothing was. */
  readonly damageOf: (slug: string) => string | null
  /** Forgets it: the tenant has another file from now on. */
  readonly forgetDamage: (slug: string) => void
  /** Where damaged files are kept; null in a cluster, whose files are copies of its log. */
  readonly damaged: string | null
}
