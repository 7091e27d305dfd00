import { copyFileSync, createWriteStream, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as turn } from 'node:timers/promises'
import { Problem } from '@tildebase/nouns'
import type { HttpResponse } from '../../doors/http.ts'
import { json, render } from '../../doors/reply.ts'
import type { AdminDeps } from './restore.ts'
import { salvage } from './salvage.ts'
import { removeDatabase } from './scratch.ts'

/** Lines that are written before others have their turn. */
const LINES = 100

/**
 * Takes the file of a tenant out of use, and keeps the slug for a restore: no write is acknowledged that the restore would
 * not have. A node of a cluster loads its state from the log of the cluster instead.
 */
export async function setAside(slug: string, deps: AdminDeps): Promise<HttpResponse> {
  const { files, restoring, runTask, damaged } = deps
  if (damaged === null) {
    await runTask(slug, { do: 'setAside', path: '' })
    return render(json(200, { tenant: slug }))
  }
  const before = newestOf(damaged, slug)
  if (!files.has(slug) && (before === null || restoring.progressOf(slug) === null)) files.demandThere(slug)
  return restoring.duringSlice(slug, async () => {
    const path = files.has(slug) || before === null ? pathFor(damaged, slug) : before
    // It keeps the slug also after a restart.
    if (restoring.progressOf(slug) === null) copyFileSync(files.template, restoring.pathOf(slug))
    restoring.advance(slug, restoring.progressOf(slug) ?? { events: 0, of: null })
    await runTask(slug, { do: 'setAside', path })
    deps.cancelAlarm(slug)
    deps.forgetDamage(slug)
    return render(json(200, { tenant: slug, file: path }))
  })
}

/** Writes the lines that can be read of the newest file that was set aside to a path. */
export async function writeSalvaged(slug: string, after: number, deps: AdminDeps, to: string): Promise<void> {
  const from = deps.damaged === null ? null : newestOf(deps.damaged, slug)
  if (from === null) throw new Problem('not_found', `No file of ${slug} was set aside.`, { id: slug })
  const copy = deps.scratch.pathFor(slug)
  try {
    for (const suffix of ['', '-wal'])
      if (existsSync(`${from}${suffix}`)) copyFileSync(`${from}${suffix}`, `${copy}${suffix}`)
    await pipeline(Readable.from(inTurns(salvage(copy, slug, after))), createWriteStream(to, { mode: 0o600 }))
  } catch (reason) {
    if (reason instanceof Problem) throw reason
    // Not even its tables can be found.
    const end = { end: true, unreadable: [], counted: false, secrets: false }
    await pipeline(Readable.from([`${JSON.stringify(end)}\n`]), createWriteStream(to, { mode: 0o600 }))
  } finally {
    await removeDatabase(copy)
  }
}

/** The same lines; requests have their turn in between. */
async function* inTurns(lines: Iterable<string>): AsyncGenerator<string> {
  let count = 0
  for (const line of lines) {
    yield line
    if (++count % LINES === 0) await turn()
  }
}

function pathFor(folder: string, slug: string): string {
  return join(folder, `${slug}.${new Date().toISOString().replace(/[-:]/g, '')}.db`)
}

/** The file of a tenant that was set aside last. */
function newestOf(folder: string, slug: string): string | null {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const names = readdirSync(folder).filter((name) => name.startsWith(`${slug}.`) && name.endsWith('.db'))
  const newest = names.sort().at(-1)
  return newest === undefined ? null : join(folder, newest)
}
