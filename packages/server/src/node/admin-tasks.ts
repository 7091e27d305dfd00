import { rmSync, statSync } from 'node:fs'
import { Problem } from '@tildebase/nouns'
import { detach, rewind, type Verdict } from '@tildebase/tenant/host'
import type { LogRequest } from '../log-request.ts'
import type { AdminContext } from './admin-context.ts'
import { replayFile, writeLog } from './log-file.ts'
import { openSql } from './sql.ts'

/** What the operator asks of one tenant as a whole. It is done in the thread that the tenant lives in. */
export type AdminTask =
  | { readonly do: 'info' | 'verify' | 'create' | 'delete' }
  /** Writes a copy to a path, as of a time when one is given; `detached` leaves the keys behind. */
  | { readonly do: 'copy'; readonly path: string; readonly asOf: number | null; readonly detached: boolean }
  /** Makes the file at a path the tenant's own. */
  | { readonly do: 'adopt'; readonly path: string }
  /** Writes the tenant's log to a path, in the form that every host reads, once there are events in it. */
  | { readonly do: 'log'; readonly path: string; readonly question: LogRequest }
  /** Brings the tenant to the state of the log at a path. */
  | { readonly do: 'replay'; readonly path: string }

/** Does a task, and returns what came of it as plain data. */
export function runAdminTask(context: AdminContext, slug: string, task: AdminTask): unknown {
  if (task.do === 'adopt') return adopt(context, slug, task.path)
  if (task.do === 'replay') return replayFile(context, slug, task.path)
  if (task.do === 'create') return create(context, slug)
  context.files.demandThere(slug)
  switch (task.do) {
    case 'info':
      return { ...context.use(slug).admin.info(), bytes: statSync(context.files.pathOf(slug)).size }
    case 'verify':
      return { tenant: slug, ...context.use(slug).admin.verify() }
    case 'delete':
      context.close(slug)
      return context.files.remove(slug)
    case 'copy':
      return copy(context, slug, task.path, task.asOf, task.detached)
    case 'log':
      return context.during(slug, (tenant) => writeLog(tenant, task.path, task.question))
  }
}

function create({ files }: AdminContext, slug: string): unknown {
  files.demandFree(slug)
  files.create(slug)
  return { tenant: slug }
}

function copy(context: AdminContext, slug: string, path: string, asOf: number | null, detached: boolean): void {
  const { admin } = context.use(slug)
  rmSync(path, { force: true })
  admin.copyTo(path)
  if (asOf === null && !detached) return
  const sql = openSql(path)
  try {
    if (asOf !== null) rewind(sql, admin.seqAt(asOf))
    if (detached) detach(sql)
  } finally {
    sql.close()
  }
}

/** A file is taken in only when it is a tenant's, of a layout we know, and whole. */
function adopt(context: AdminContext, slug: string, path: string): unknown {
  context.files.demandFree(slug)
  const verdict = examine(context, slug, path)
  if (!verdict.ok) {
    throw new Problem('validation_error', `The file is not whole: ${verdict.faults[0]?.message}`, {
      details: [...verdict.faults],
    })
  }
  context.files.adopt(slug, path)
  return { tenant: slug, events: verdict.events }
}

function examine(context: AdminContext, slug: string, path: string): Verdict {
  try {
    const { tenant, close } = context.open(slug, path)
    try {
      return tenant.admin.verify()
    } finally {
      close()
    }
  } catch (reason) {
    if (reason instanceof Problem) throw reason
    throw new Problem('validation_error', `The file is not a tenant's: ${(reason as Error).message}`)
  }
}
