import { constants } from 'node:fs'
import { access, type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BlobStore } from '@tildebase/tenant/ports'
import { freeOwn, markOwn } from '../own-bytes.ts'

/** The ending of a file that is not complete. */
const UNFINISHED = '.part'
/** What follows the slug in the name of a folder that is being removed. No slug has it. */
export const REMOVED = '~'
const CHUNK = 262_144
/** How much is gathered for one write. */
const PORTION = 524_288
/** How much is synced at once, while as much is written. The commits of all tenants wait with what the disk has to do. */
const SYNCED_TOGETHER = 8_388_608

/** The contents of one tenant as files of a folder. A file has its name only when all of it is on the disk. */
export function folderStore(folder: string): BlobStore {
  return {
    async put(key, source) {
      const path = join(folder, key)
      const file = await openNew(`${path}${UNFINISHED}`)
      try {
        await writeAll(file, source)
        await file.datasync()
        await file.close()
        await rename(`${path}${UNFINISHED}`, path)
        await syncTogether(folder)
      } catch (reason) {
        await file.close().catch(() => {})
        await rm(`${path}${UNFINISHED}`, { force: true })
        throw reason
      }
    },
    async *read(key, from, to) {
      const file = await open(join(folder, key), 'r')
      try {
        for (let at = from; at < to; ) {
          const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK, to - at))
          const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
          if (bytesRead === 0) throw new Error(`The content ${key} has ${at} bytes, not ${to}.`)
          markOwn(buffer)
          yield bytesRead === buffer.length ? buffer : buffer.subarray(0, bytesRead)
          at += bytesRead
        }
      } finally {
        await file.close()
      }
    },
    has: (key) =>
      access(join(folder, key), constants.R_OK).then(
        () => true,
        () => false,
      ),
    remove: (key) => rm(join(folder, key), { force: true }),
    async *list() {
      for (const key of await namesIn(folder)) {
        const facts = await stat(join(folder, key)).catch(() => null)
        if (facts && !key.endsWith(UNFINISHED)) yield { key, at: facts.mtimeMs }
      }
    },
  }
}

/** Removes what a process has left that ended in the middle of uploads and deletions. Call it before the first upload. */
export async function removeUnfinished(root: string): Promise<void> {
  for (const letters of await namesIn(root)) {
    for (const slug of await namesIn(join(root, letters))) {
      const folder = join(root, letters, slug)
      if (slug.includes(REMOVED)) {
        await rm(folder, { recursive: true, force: true })
        continue
      }
      for (const name of await namesIn(folder))
        if (name.endsWith(UNFINISHED)) await rm(join(folder, name), { force: true })
    }
  }
}

/** The folder of a tenant's contents. Two letters of the slug make a folder, so that no folder holds them all. */
export function contentFolder(root: string, slug: string): string {
  return join(root, slug.slice(0, 2), slug)
}

async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600)
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code !== 'ENOENT') throw reason
  }
  const folder = dirname(path)
  const first = await mkdir(folder, { recursive: true, mode: 0o700 })
  // The names of the new folders are on the disk before the first file in them.
  for (let made = folder; first !== undefined && made.length >= first.length; made = dirname(made))
    await syncFolder(dirname(made))
  return open(path, 'wx', 0o600)
}

/**
 * Writes while the next bytes come, and syncs while the next ones are written. Memory holds two portions: one that is
 * written, and one that is gathered.
 */
async function writeAll(file: FileHandle, source: AsyncIterable<Uint8Array>): Promise<void> {
  let writing: Promise<void> = Promise.resolve()
  let syncing: Promise<void> = Promise.resolve()
  let gathered: Uint8Array[] = []
  let length = 0
  let unsynced = 0
  const write = async () => {
    await writing
    unsynced += length
    writing = writePortion(file, gathered, length)
    // A failure is seen by the next portion, or at the end.
    writing.catch(() => {})
    gathered = []
    length = 0
    if (unsynced < SYNCED_TOGETHER) return
    unsynced = 0
    await syncing
    syncing = writing.then(() => file.datasync())
    syncing.catch(() => {})
  }
  for await (const chunk of source) {
    gathered.push(chunk)
    length += chunk.length
    if (length >= PORTION) await write()
  }
  if (length > 0) await write()
  await writing
  await syncing
}

async function writePortion(file: FileHandle, chunks: readonly Uint8Array[], length: number): Promise<void> {
  const { bytesWritten } = await file.writev(chunks as Uint8Array[])
  // A disk that is nearly full may take a part.
  for (let at = bytesWritten, rest = at < length ? Buffer.concat(chunks) : null; rest && at < length; )
    at += (await file.write(rest, at, length - at)).bytesWritten
  for (const chunk of chunks) freeOwn(chunk)
}

const syncs = new Map<string, { readonly running: Promise<void>; next: Promise<void> | null }>()

/** Brings the names in a folder to the disk, together with those of others that wait for the same. */
function syncTogether(folder: string): Promise<void> {
  const known = syncs.get(folder)
  // One that runs may have begun before the name was there.
  if (known) {
    known.next ??= known.running.catch(() => {}).then(() => begin())
    return known.next
  }
  return begin()

  function begin(): Promise<void> {
    const entry: { running: Promise<void>; next: Promise<void> | null } = {
      running: syncFolder(folder).finally(() => {
        if (syncs.get(folder) === entry && entry.next === null) syncs.delete(folder)
      }),
      next: null,
    }
    syncs.set(folder, entry)
    return entry.running
  }
}

/** Brings the names in a folder to the disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((reason: NodeJS.ErrnoException) => {
    if (reason.code === 'ENOENT' || reason.code === 'ENOTDIR') return []
    throw reason
  })
}
