import { createReadStream, createWriteStream, rmSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as turn } from 'node:timers/promises'
import type { Tenant, TenantOptions } from '@tildebase/tenant'
import { type LogRequest, logPart } from '../../doors/watch/log-request.ts'
import { afterOf } from '../../host/operator.ts'
import type { TenantFiles } from '../sqlite/files.ts'
import { SUFFIXES } from '../sqlite/wal-mark.ts'

/** The lines of a log, or of a slice of one, on their way into a tenant. */
export interface ReplayTask {
  readonly do: 'replay'
  readonly path: string
  /** The file that a new tenant is made in, until it is whole. */
  readonly into: string
  /** Whether other slices follow. */
  readonly more: boolean
  /** Whether the new tenant moves in when it is whole; in a cluster the file becomes the first state of its log instead. */
  readonly adopt: boolean
}

/** Writes a tenant's log to a file, page by page, with turns for others in between. */
export async function writeLog(tenant: Tenant, path: string, question: LogRequest): Promise<void> {
  const pages = Readable.from(tenant.admin.log(await logPart(tenant, question)))
  await pipeline(pages, createWriteStream(path, { mode: 0o600 }))
}

/** Brings a tenant to the state of the log in a file. A new one is made next to the others and moves in when it is whole. */
export async function replayFile(context: AdminContext, slug: string, task: ReplayTask): Promise<unknown> {
  const { path, into, more, adopt } = task
  if (context.files.has(slug)) {
    const lines = createReadStream(path)
    const { events } = await context.during(slug, (tenant) => tenant.admin.replay(lines, pause, { more }))
    // What is kept in addition to the log was replaced: it must be read again.
    context.close(slug)
    return { tenant: slug, events }
  }
  if (await beginsAnew(path)) for (const suffix of SUFFIXES) rmSync(`${into}${suffix}`, { force: true })
  const { tenant, close } = context.open(slug, into)
  const { events } = await tenant.admin.replay(createReadStream(path), pause, { more }).finally(close)
  if (!more && adopt) context.files.adopt(slug, into)
  return { tenant: slug, events }
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

const LONGEST_HEAD = 4_096

/** Whether a log begins with the first event of its tenant. What is not a log is refused later. */
async function beginsAnew(path: string): Promise<boolean> {
  let head = ''
  for await (const chunk of createReadStream(path, { encoding: 'utf8', end: LONGEST_HEAD })) head += chunk
  return afterOf(head) === 0
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
