import { copyFileSync, rmSync, statSync } from 'node:fs'
import type { AsOf } from '@tildebase/nouns'
import type { Content } from '@tildebase/tenant/internal'
import type { LogRequest } from '../../doors/watch/log-request.ts'
import { type AdminContext, countRestored, type ReplayTask, replayFile, writeLog } from './log-file.ts'

/** What the operator asks of one tenant as a whole. It is done in the thread that the tenant is in. */
export type AdminTask =
  | { readonly do: 'info' | 'create' | 'delete' }
  /** Moves the file to a path, as it is. In a cluster the node loads its state again instead. */
  | { readonly do: 'setAside'; readonly path: string }
  /** Writes a copy to a path, and returns the last event at or before a time. `changed`: also of a file that has changed. */
  | { readonly do: 'copy'; readonly path: string; readonly asOf: AsOf | null; readonly changed?: boolean }
  /** Makes the file at a path, which was verified, the tenant's own. */
  | { readonly do: 'adopt'; readonly path: string }
  /** Writes the tenant's log to a path, in the form that every host reads, once there are events in it. */
  | { readonly do: 'log'; readonly path: string; readonly question: LogRequest }
  /** Brings the tenant to the state of the log at a path, which continues after its last event. */
  | ReplayTask
  /** Where the bytes of a content are. */
  | { readonly do: 'content'; readonly hash: string }
  /** Makes bytes that were stored part of the tenant. */
  | { readonly do: 'takeIn'; readonly content: Content }
  /** The contents whose bytes are still to come. */
  | { readonly do: 'missing' }
  /** Counts the events of a restore that has not ended. */
  | { readonly do: 'countRestored'; readonly path: string }

/** What came of a copy: the last event at or before the time that was asked for. */
export interface CopyResult {
  readonly seq: number | null
}

/** Does a task, and returns what came of it as plain data. */
export function runAdminTask(context: AdminContext, slug: string, task: AdminTask): unknown {
  if (task.do === 'adopt') return adopt(context, slug, task.path)
  if (task.do === 'countRestored') return countRestored(context, slug, task.path)
  if (task.do === 'create') return create(context, slug)
  if (task.do === 'setAside') return setAside(context, slug, task.path)
  context.files.demandThere(slug)
  switch (task.do) {
    case 'info':
      return { ...context.use(slug).admin.info(), bytes: statSync(context.files.pathOf(slug)).size }
    case 'delete':
      context.close(slug)
      return context.files.remove(slug)
    case 'copy':
      if (task.changed && !context.isOpen(slug) && context.files.hasChanged(slug))
        return copyFileSync(context.files.pathOf(slug), task.path)
      return copy(context, slug, task.path, task.asOf)
    case 'content':
      return context.use(slug).admin.content(task.hash)
    case 'takeIn':
      return context.use(slug).admin.takeIn(task.content)
    case 'missing':
      return context.use(slug).admin.missingContents()
    case 'replay':
      return replayFile(context, slug, task)
    case 'log':
      return context.during(slug, (tenant) => writeLog(tenant, task.path, task.question))
  }
}

function create({ files }: AdminContext, slug: string): unknown {
  files.demandFree(slug)
  files.create(slug)
  return { tenant: slug }
}

function setAside(context: AdminContext, slug: string, path: string): void {
  try {
    context.close(slug)
  } catch {
    // A damaged file may not close as others do. Its log is moved with it.
  }
  context.files.setAside(slug, path)
}

function copy(context: AdminContext, slug: string, path: string, asOf: AsOf | null): Promise<CopyResult> {
  rmSync(path, { force: true })
  return context.during(slug, async ({ admin }) => {
    await admin.copyTo(path)
    return { seq: asOf === null ? null : admin.seqOf(asOf) }
  })
}

function adopt({ files }: AdminContext, slug: string, path: string): void {
  files.demandFree(slug)
  files.adopt(slug, path)
}
