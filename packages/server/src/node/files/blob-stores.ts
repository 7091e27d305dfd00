import { randomUUID } from 'node:crypto'
import { copyFile, link, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BlobStore } from '@tildebase/tenant/ports'
import { Bucket } from '../../host/files/bucket.ts'
import { unavailable } from '../../host/files/parts.ts'
import type { Settings } from '../../host/settings/settings.ts'
import { contentFolder, folderStore, REMOVED, syncFolder } from './folder-store.ts'

/** Where the bytes of all tenants are. */
export interface BlobStores {
  of(slug: string): BlobStore
  /** Gives a tenant the bytes of another one. Returns the keys that there was nothing under. */
  copy(from: string, to: string, keys: readonly string[]): Promise<string[]>
  /** Removes all bytes of a tenant. */
  drop(slug: string): Promise<void>
}

/** The folder of the contents of all tenants. */
export function contentRoot(data: string): string {
  return join(data, 'files')
}

/** Where each tenant's bytes are. A cluster has no folder that all its nodes see: it needs a bucket. */
export function blobStores({ data, cluster, files }: Pick<Settings, 'data' | 'cluster' | 'files'>): BlobStores | null {
  if (files.bucket !== null) return bucketStores(new Bucket(files.bucket))
  return cluster === null ? folderStores(contentRoot(data)) : null
}

/** A bucket with the contents of each tenant below its slug. */
function bucketStores(bucket: Bucket): BlobStores {
  const of = (slug: string): BlobStore => ({
    put: (key, source) => bucket.put(`${slug}/${key}`, source).catch(unavailable),
    read: (key, from, to) => bucket.read(`${slug}/${key}`, from, to),
    has: (key) => bucket.has(`${slug}/${key}`),
    remove: (key) => bucket.remove(`${slug}/${key}`),
    async *list() {
      for await (const { key, at } of bucket.list(`${slug}/`)) yield { key: key.slice(slug.length + 1), at }
    },
  })
  return {
    of,
    async copy(from, to, keys) {
      const missing: string[] = []
      for (const key of keys) if (!(await bucket.copy(`${from}/${key}`, `${to}/${key}`))) missing.push(key)
      return missing
    },
    async drop(slug) {
      const keys: string[] = []
      for await (const { key } of bucket.list(`${slug}/`)) keys.push(key)
      for (const key of keys) await bucket.remove(key)
    },
  }
}

/** Removes a folder, which no upload that is in progress finds any more. */
async function removeFolder(folder: string): Promise<void> {
  const removed = `${folder}${REMOVED}${randomUUID()}`
  try {
    await rename(folder, removed)
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === 'ENOENT') return
    throw reason
  }
  await rm(removed, { recursive: true, force: true })
}

function folderStores(root: string): BlobStores {
  const folderOf = (slug: string) => contentFolder(root, slug)
  return {
    of(slug) {
      const store = folderStore(folderOf(slug))
      return { ...store, put: (key, source) => store.put(key, source).catch(unavailable) }
    },
    async copy(from, to, keys) {
      if (keys.length === 0) return []
      const missing: string[] = []
      await mkdir(folderOf(to), { recursive: true, mode: 0o700 })
      for (const key of keys) if (!(await linked(folderOf(from), folderOf(to), key))) missing.push(key)
      for (const folder of [folderOf(to), join(folderOf(to), '..'), root]) await syncFolder(folder)
      return missing
    },
    drop: (slug) => removeFolder(folderOf(slug)),
  }
}

/** Content never changes: a second name for the same file is a copy. */
async function linked(from: string, to: string, key: string): Promise<boolean> {
  const [source, target] = [join(from, key), join(to, key)]
  try {
    await link(source, target).catch((reason: NodeJS.ErrnoException) => {
      if (reason.code === 'ENOENT' || reason.code === 'EEXIST') throw reason
      return copyFile(source, target)
    })
    return true
  } catch (reason) {
    const { code } = reason as NodeJS.ErrnoException
    if (code === 'EEXIST') return true
    if (code === 'ENOENT') return false
    throw reason
  }
}
