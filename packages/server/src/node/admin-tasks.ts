import { rmSync, statSync } from 'node:fs'
import { isoOf, Problem } from '@tildebase/nouns'
import {
  detach,
  type Engine,
  openTenant,
  rewind,
  seqAt,
  summaryOf,
  type TenantOptions,
  verify,
} from '@tildebase/tenant'
import type { LogRequest } from '../log-request.ts'
import type { TenantFiles } from './files.ts'
import { replayFile, writeLog } from './log-file.ts'
import { systemClock, systemRandom, systemSeal } from './ports.ts'
import { openSql } from './sql.ts'

/** What the operator asks of one tenant as a whole. It is done in the thread that the tenant lives in. */
export type AdminTask =
  | { readonly do: 'info' | 'verify' | 'delete' }
  /** Writes a copy to a path, as of a time when one is given; `detached` leaves the keys behind. */
  | { readonly do: 'copy'; readonly path: string; readonly asOf: number | null; readonly detached: boolean }
  /** Makes the file at a path the tenant's own. */
  | { readonly do: 'adopt'; readonly path: string }
  /** Writes the tenant's log to a path, in the form that every host reads, once there is something to tell. */
  | { readonly do: 'log'; readonly path: string; readonly question: LogRequest }
  /** Brings the tenant to the state of the log at a path. */
  | { readonly do: 'replay'; readonly path: string }

/** Where tasks find their tenant. */
export interface TenantAdmin {
  readonly files: TenantFiles
  readonly options: TenantOptions
  use(slug: string): { readonly tenant: Engine }
  /** The same, kept open until the work is done. */
  during<T>(slug: string, work: (tenant: Engine) => Promise<T>): Promise<T>
  close(slug: string): void
}

/** Does a task, and tells what came of it as plain data. */
export function runAdminTask(keeper: TenantAdmin, slug: string, task: AdminTask): unknown {
  if (task.do === 'adopt') return adopt(keeper, slug, task.path)
  if (task.do === 'replay') return replayFile(keeper, slug, task.path)
  if (!keeper.files.has(slug)) throw new Problem('not_found', `There is no tenant ${slug}.`, { id: slug })
  switch (task.do) {
    case 'info':
      return info(keeper, slug)
    case 'verify':
      return { tenant: slug, ...verify(keeper.use(slug).tenant) }
    case 'delete':
      keeper.close(slug)
      return keeper.files.remove(slug)
    case 'copy':
      return copy(keeper, slug, task.path, task.asOf, task.detached)
    case 'log':
      return keeper.during(slug, (tenant) => writeLog(tenant, task.path, task.question))
  }
}

function info(keeper: TenantAdmin, slug: string) {
  const { tenant } = keeper.use(slug)
  const { first, entities } = summaryOf(tenant)
  return {
    tenant: slug,
    bytes: statSync(keeper.files.pathOf(slug)).size,
    events: tenant.head.seq,
    entities,
    createdAt: first === null ? null : isoOf(first),
    updatedAt: tenant.head.seq === 0 ? null : isoOf(tenant.head.at),
  }
}

function copy(keeper: TenantAdmin, slug: string, path: string, asOf: number | null, detached: boolean): void {
  const { tenant } = keeper.use(slug)
  rmSync(path, { force: true })
  tenant.sql.run('VACUUM INTO ?', path)
  if (asOf === null && !detached) return
  const sql = openSql(path)
  try {
    if (asOf !== null) rewind(sql, seqAt(tenant.sql, tenant.head, asOf))
    if (detached) detach(sql)
  } finally {
    sql.close()
  }
}

/** A file is taken in only when it is a tenant's, of a layout we know, and whole. */
function adopt(keeper: TenantAdmin, slug: string, path: string): unknown {
  if (keeper.files.has(slug)) {
    throw new Problem('conflict', `There is a tenant ${slug} already. Restore into a new one, or delete it first.`, {
      id: slug,
    })
  }
  const verdict = examine(keeper, slug, path)
  if (!verdict.ok) {
    throw new Problem('validation_error', `The file is not whole: ${verdict.faults[0]?.message}`, {
      details: [...verdict.faults],
    })
  }
  keeper.files.adopt(slug, path)
  return { tenant: slug, events: verdict.events }
}

function examine(keeper: TenantAdmin, slug: string, path: string) {
  let sql: ReturnType<typeof openSql> | null = null
  try {
    sql = openSql(path)
    const alarm = { wakeAt: () => {} }
    const ports = { sql, clock: systemClock, random: systemRandom, seal: systemSeal, alarm }
    return verify(openTenant(slug, ports, keeper.options))
  } catch (reason) {
    if (reason instanceof Problem) throw reason
    throw new Problem('validation_error', `The file is not a tenant's: ${(reason as Error).message}`)
  } finally {
    sql?.close()
  }
}
