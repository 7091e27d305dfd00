import { createReadStream, createWriteStream, rmSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as turn } from 'node:timers/promises'
import { type Engine, openTenant, portableLog, replay } from '@tildebase/tenant'
import { type LogRequest, logPart } from '../log-request.ts'
import type { TenantAdmin } from './admin-tasks.ts'
import { systemClock, systemRandom, systemSeal } from './ports.ts'
import { openSql } from './sql.ts'

/** Writes a tenant's log to a file, page by page, with turns for others in between. */
export async function writeLog(tenant: Engine, path: string, question: LogRequest): Promise<void> {
  const pages = Readable.from(portableLog(tenant, await logPart(tenant, question)))
  await pipeline(pages, createWriteStream(path, { mode: 0o600 }))
}

/** Brings a tenant to the state of the log in a file. A new one is made beside the others and moves in when it is whole. */
export async function replayFile(keeper: TenantAdmin, slug: string, path: string): Promise<unknown> {
  if (keeper.files.has(slug)) {
    const { events } = await keeper.during(slug, (tenant) => replay(tenant, createReadStream(path), pause))
    // What stands beside the log was replaced: whoever has read it must read it again.
    keeper.close(slug)
    return { tenant: slug, events }
  }
  const fresh = `${path}.new`
  try {
    const events = await rebuild(keeper, slug, path, fresh)
    keeper.files.adopt(slug, fresh)
    return { tenant: slug, events }
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${fresh}${suffix}`, { force: true })
  }
}

async function rebuild(keeper: TenantAdmin, slug: string, path: string, fresh: string): Promise<number> {
  const sql = openSql(fresh)
  try {
    const ports = { sql, clock: systemClock, random: systemRandom, seal: systemSeal, alarm: { wakeAt: () => {} } }
    const { events } = await replay(openTenant(slug, ports, keeper.options), createReadStream(path), pause)
    return events
  } finally {
    sql.close()
  }
}

async function pause(): Promise<void> {
  await turn()
}
