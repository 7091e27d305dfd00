import { createReadStream, createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as turn } from 'node:timers/promises'
import type { Tenant, TenantOptions } from '@tildebase/tenant'
import { type LogRequest, logPart } from '../../doors/watch/log-request.ts'
import type { TenantFiles } from '../sqlite/files.ts'

/** The lines of a log, or of a slice of one, on their way into a tenant. */
export interface ReplayTask {
  readonly do: 'replay'
  readonly path: string
  /** Whether other slices follow. */
  readonly more: boolean
}

/** Writes a tenant's log to a file, page by page, with turns for others in between. */
export async function writeLog(tenant: Tenant, path: string, question: LogRequest): Promise<void> {
  const pages = Readable.from(tenant.admin.log(await logPart(tenant, question)))
  await pipeline(pages, createWriteStream(path, { mode: 0o600 }))
}

/** Brings a tenant to the state of the log in a file, which continues after its last event. */
export async function replayFile(context: AdminContext, slug: string, { path, more }: ReplayTask): Promise<unknown> {
  const lines = createReadStream(path)
  const { events } = await context.during(slug, (tenant) => tenant.admin.replay(lines, pause, { more }))
  // What is kept in addition to the log was replaced: it must be read again.
  context.close(slug)
  return { events }
}

/** How many events of a restore have arrived. */
export function countRestored(context: AdminContext, slug: string, path: string): number {
  const { tenant, close } = context.open(slug, path)
  try {
    return tenant.admin.head.seq
  } finally {
    close()
  }
}

async function pause(): Promise<void> {
  await turn()
}

/** Where admin tasks find their tenant. */
export interface AdminContext {
  readonly files: TenantFiles
  /** Opens the file at a path as a tenant that nothing wakes. */
  open(slug: string, path: string): { readonly tenant: Tenant; close(): void }
  readonly options: TenantOptions
  use(slug: string): Tenant
  /** The same, kept open until the work is done. */
  during<T>(slug: string, work: (tenant: Tenant) => Promise<T>): Promise<T>
  isOpen(slug: string): boolean
  close(slug: string): void
}
