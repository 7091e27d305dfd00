import { createReadStream, createWriteStream, rmSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as turn } from 'node:timers/promises'
import type { Tenant } from '@tildebase/tenant'
import { type LogRequest, logPart } from '../log-request.ts'
import type { AdminContext } from './admin-context.ts'

/** Writes a tenant's log to a file, page by page, with turns for others in between. */
export async function writeLog(tenant: Tenant, path: string, question: LogRequest): Promise<void> {
  const pages = Readable.from(tenant.admin.log(await logPart(tenant, question)))
  await pipeline(pages, createWriteStream(path, { mode: 0o600 }))
}

/** Brings a tenant to the state of the log in a file. A new one is made next to the others and moves in when it is whole. */
export async function replayFile(context: AdminContext, slug: string, path: string): Promise<unknown> {
  if (context.files.has(slug)) {
    const { events } = await context.during(slug, (tenant) => tenant.admin.replay(createReadStream(path), pause))
    // What is kept in addition to the log was replaced: it must be read again.
    context.close(slug)
    return { tenant: slug, events }
  }
  const fresh = `${path}.new`
  try {
    const { tenant, close } = context.open(slug, fresh)
    const { events } = await tenant.admin.replay(createReadStream(path), pause).finally(close)
    context.files.adopt(slug, fresh)
    return { tenant: slug, events }
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${fresh}${suffix}`, { force: true })
  }
}

async function pause(): Promise<void> {
  await turn()
}
