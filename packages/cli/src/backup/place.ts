import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Problem } from '@tildebase/nouns'

/** Where a backup is: a folder, or a part of a bucket. */
export interface Place {
  /** As the user names it. */
  readonly name: string
  /** A part of it with a name of its own. */
  within(name: string): Place
  /** The names that begin with a prefix, sorted. */
  list(prefix: string): Promise<string[]>
  has(name: string): Promise<boolean>
  read(name: string): AsyncIterable<Uint8Array>
  /** Stores a file. It has its name only when all of it is durable. */
  put(name: string, source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void>
}

/** The ending of a file that is not complete. */
export const PART = '.part'

/** So many files are fetched at once: a bucket takes long to answer, and sends fast. */
const AHEAD = 8

/** The same place. While one of the named files is read, the next ones are fetched. */
export function readingAhead(place: Place, names: readonly string[]): Place {
  const fetched = new Map<string, Promise<Uint8Array[]>>()
  const fetch = (name: string) => {
    const bytes = chunksOf(place, name)
    // It is thrown when its turn has come.
    bytes.catch(() => {})
    fetched.set(name, bytes)
    return bytes
  }
  return {
    ...place,
    async *read(name) {
      const bytes = fetched.get(name) ?? fetch(name)
      const at = names.indexOf(name) + 1
      for (const next of names.slice(at, at + AHEAD - 1)) if (!fetched.has(next)) fetch(next)
      yield* await bytes
      fetched.delete(name)
    },
  }
}

/** The text of a file, or null when there is none. */
export async function textOf(place: Place, name: string): Promise<string | null> {
  if (!(await place.has(name))) return null
  return Buffer.concat(await chunksOf(place, name)).toString('utf8')
}

async function chunksOf(place: Place, name: string): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  for await (const chunk of place.read(name)) chunks.push(chunk)
  return chunks
}

export function folderPlace(folder: string): Place {
  return {
    name: folder,
    within: (name) => folderPlace(join(folder, name)),
    async list(prefix) {
      const below = prefix.slice(0, prefix.lastIndexOf('/') + 1)
      const names = await readdir(join(folder, below)).catch((reason: NodeJS.ErrnoException) => {
        if (reason.code === 'ENOENT') return []
        throw reason
      })
      return names
        .map((name) => `${below}${name}`)
        .filter((name) => name.startsWith(prefix) && !name.endsWith(PART))
        .sort()
    },
    has: async (name) => (await stat(join(folder, name)).catch(() => null)) !== null,
    read: (name) => createReadStream(join(folder, name)),
    async put(name, source) {
      const path = join(folder, name)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      const file = await open(`${path}${PART}`, 'w', 0o600)
      try {
        for await (const chunk of source) await file.writeFile(chunk)
        await file.sync()
        await file.close()
        await rename(`${path}${PART}`, path)
      } catch (reason) {
        await file.close().catch(() => {})
        await rm(`${path}${PART}`, { force: true })
        throw reason
      }
      await syncFolder(dirname(path))
    },
  }
}

/** After a power failure a file exists only if its folder was synced too. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  await handle.sync()
  await handle.close()
}

/** The part of a place for a tenant. A name that leads elsewhere is none that a service gives. */
export function tenantPlace(place: Place, tenant: string): Place {
  if (/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(tenant)) return place.within(tenant)
  throw new Problem(
    'unexpected_answer',
    `The service returned the tenant ${JSON.stringify(tenant)}, which is not a valid name.`,
  )
}
