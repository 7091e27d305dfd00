import { Problem } from '@tildebase/nouns'
import { detach, forgetTimers, rewind, type Verdict } from '@tildebase/tenant/internal'
import type { Sql } from '@tildebase/tenant/ports'
import { syncPath } from '../../sqlite/disk-sync.ts'
import { openSql } from '../../sqlite/sql.ts'
import { type OpenOptions, openTenantFile } from '../../tenants/open-tenant.ts'
import type { Refusal } from '../messages.ts'

/** What is done to a file that is not a tenant's own: a copy, or one that was sent. It takes as long as the file is large. */
export type FileTask =
  /** Opens the file as a tenant, and verifies it. */
  | { readonly do: 'verify'; readonly slug: string; readonly path: string }
  /** Takes a copy back to an event, and leaves its keys behind. */
  | { readonly do: 'detach'; readonly path: string; readonly seq: number | null; readonly origin: string }
  /** Leaves behind what is due: the origin of the file may have done it. */
  | { readonly do: 'forgetTimers'; readonly path: string }

/** What came of a task, as the thread that did it tells. */
export type FileOutcome = { readonly result: Verdict | null } | { readonly refusal: Refusal }

/** How far a task is, as the thread tells meanwhile. */
export interface FileProgress {
  readonly done: number
  readonly of: number
}

type FileTaskOptions = Pick<OpenOptions, 'tenant' | 'secretKey' | 'stats'>

const CACHE_KIB = 16_000

type Tell = (done: number, of: number) => void

/** Does a task; `tell` is called now and then with the events that are done. */
export function runFileTask(options: FileTaskOptions, task: FileTask, tell: Tell): Verdict | null {
  switch (task.do) {
    case 'verify':
      return verify(options, task.slug, task.path, tell)
    case 'detach':
      return change(task.path, (sql) => {
        if (task.seq !== null) rewind(sql, task.seq)
        detach(sql, task.origin, Date.now())
      })
    case 'forgetTimers':
      return change(task.path, (sql) => sql.transaction(() => forgetTimers(sql, Date.now())))
  }
}

function verify(options: FileTaskOptions, slug: string, path: string, tell: Tell): Verdict {
  try {
    const { tenant, close } = openTenantFile(options, slug, path, CACHE_KIB, () => {})
    try {
      return tenant.admin.verify(tell)
    } finally {
      close()
    }
  } catch (reason) {
    if (reason instanceof Problem) throw reason
    throw new Problem('validation_error', `The file is not a tenant: ${(reason as Error).message}`)
  }
}

function change(path: string, work: (sql: Sql) => void): null {
  const sql = openSql(path, { cacheKiB: CACHE_KIB })
  try {
    work(sql)
  } finally {
    sql.close()
  }
  // All of it, as the thread of the tenant would otherwise do before the file becomes its own.
  syncPath(path)
  return null
}
