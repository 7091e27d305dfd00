import { open } from 'node:fs/promises'
import { Problem } from '@tildebase/nouns'
import type { Verdict } from '@tildebase/tenant/internal'
import type { HttpRequest, HttpResponse } from '../../doors/http.ts'
import { json, render } from '../../doors/reply.ts'
import { parseSliceRequest } from '../../doors/watch/log-request.ts'
import type { AdminDeps } from './admin-deps.ts'
import { removeDatabase } from './scratch.ts'
import type { Measure, Task } from './task-board.ts'

interface Replayed {
  readonly events: number
}

/** Takes in the file of a backup. */
export async function restoreFile(slug: string, request: HttpRequest, deps: AdminDeps): Promise<HttpResponse> {
  deps.files.demandFree(slug)
  return deps.restoring.during(slug, () =>
    deps.tasks.during(slug, 'restore', (task) =>
      received(slug, request, deps, task, async (path) => {
        const taken = await adopt(slug, path, deps, task)
        deps.wake(slug)
        return render(json(201, taken))
      }),
    ),
  )
}

/**
 * Takes in the lines of a log, or a slice of them. A log may continue after the last event of a tenant: that one stays in use.
 * Where there is none, the slug is kept until the last slice has arrived.
 */
export async function restoreLog(slug: string, request: HttpRequest, deps: AdminDeps): Promise<HttpResponse> {
  const { files, restoring, runTask, tasks } = deps
  const slice = parseSliceRequest(request.query)
  const { more } = slice
  const isSliced = more || restoring.progressOf(slug) !== null
  const takeIn = (into: string | null) => tasks.during(slug, 'restore', (task) => takeInTo(into, task))
  const takeInTo = (into: string | null, task: Task) =>
    received(slug, request, deps, task, async (path) => {
      const made = into ?? `${path}.new`
      task.step('replay')
      try {
        const replay = { do: 'replay', path, into: made, more, adopt: true } as const
        const { events } = (await runTask(slug, replay)) as Replayed
        if (more) return render(json(202, { tenant: slug, events, ...(into && { restoring: true }) }))
        deps.wake(slug)
        return render(json(201, { tenant: slug, events }))
      } finally {
        // A thread that died could not remove the tenant that it was making.
        if (into === null) await removeDatabase(made)
      }
    })
  if (files.has(slug)) return takeIn(null)
  if (!isSliced) return restoring.during(slug, () => takeIn(null))
  return restoring.duringSlice(slug, () => takeInSlice(slug, slice, deps, () => takeIn(restoring.pathOf(slug))))
}

/** Keeps count of a restore in slices. One whose first slice is refused has not begun. */
async function takeInSlice(
  slug: string,
  { more, of }: { readonly more: boolean; readonly of: number | null },
  { restoring }: AdminDeps,
  takeIn: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const before = restoring.progressOf(slug)
  restoring.advance(slug, before ?? { events: 0, of })
  try {
    const response = await takeIn()
    if (more)
      restoring.advance(slug, { events: JSON.parse(response.body as string).events, of: of ?? before?.of ?? null })
    else restoring.giveUp(slug)
    return response
  } catch (reason) {
    if (before === null) restoring.giveUp(slug)
    // Some of its events may have arrived.
    else restoring.advance(slug, { ...before, events: null })
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
  return render(json(200, { tenant: slug, restoring: true, events, ...(progress.of !== null && { of: progress.of }) }))
}

/** Takes in a file only when it is a tenant's, of a layout that we know, and whole. */
export async function adopt(slug: string, path: string, deps: AdminDeps, task: Task): Promise<object> {
  const { fileThread, runTask } = deps
  const verdict = await verifyFile(slug, path, deps, task)
  if (!verdict.ok) {
    throw new Problem('validation_error', `The file is not whole: ${verdict.faults[0]?.message}`, {
      details: [...verdict.faults],
    })
  }
  await fileThread.run({ do: 'forgetTimers', path })
  await runTask(slug, { do: 'adopt', path })
  return { tenant: slug, events: verdict.events }
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
    await removeDatabase(path)
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
