import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Problem, type Wire } from '@tildebase/client'

/** The folder inside a backup with the bytes of files, each under its hash. */
const FILES = 'files'
const PART = '.part'
/** A file in an event, whose values are JSON inside of JSON. */
const NAMED = /\\?"hash\\?":\\?"sha256:([0-9a-f]{64})\\?"/g

/** Saves the bytes that a line of a log names, unless they are there. Content that was erased is gone. */
export async function saveContents(wire: Wire, tenant: string, folder: string, line: string): Promise<void> {
  if (!line.includes('sha256:')) return
  for (const [, digits] of line.matchAll(NAMED)) {
    const path = join(folder, FILES, digits!)
    if (await stat(path).catch(() => null)) continue
    try {
      await save(wire, `${tenant}/files/sha256:${digits}`, path)
    } catch (reason) {
      if (!(reason instanceof Problem && reason.about.status === 404)) throw reason
    }
  }
}

/** Sends the bytes that a restored tenant misses and the backup has. Returns how many it does not have. */
export async function sendContents(
  wire: Wire,
  tenant: string,
  folder: string,
  missing: readonly string[] | null,
): Promise<number> {
  const saved = new Set(await readdir(join(folder, FILES)).catch(() => []))
  const wanted = missing?.map((hash) => hash.slice('sha256:'.length)) ?? [...saved]
  let lost = 0
  for (const digits of wanted) {
    const path = join(folder, FILES, digits)
    if (!saved.has(digits)) lost++
    else if (!digits.endsWith(PART)) {
      const body = Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>
      await wire.send(`${tenant}/files/sha256:${digits}`, {
        method: 'PUT',
        raw: { type: 'application/octet-stream', body },
        once: true,
      })
    }
  }
  return lost
}

async function save(wire: Wire, from: string, path: string): Promise<void> {
  const { body } = await wire.send(from)
  await mkdir(join(path, '..'), { recursive: true, mode: 0o700 })
  const part = `${path}${PART}`
  await rm(part, { force: true })
  await pipeline(
    body ? Readable.fromWeb(body as never) : Readable.from([]),
    createWriteStream(part, { mode: 0o600, flush: true }),
  )
  await rename(part, path)
  const folder = await open(join(path, '..'), 'r')
  await folder.sync()
  await folder.close()
}
