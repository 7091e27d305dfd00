import type { BlobStore } from '@tildebase/tenant/ports'
import { partsOf, unavailable } from '../../host/files/parts.ts'
import type { FileBucket } from '../env.ts'
import { RequestBody } from '../object/request-body.ts'

/** The contents of one tenant in a bucket of R2, below its slug. */
export function r2Store(bucket: FileBucket, slug: string): BlobStore {
  const at = (key: string) => `${slug}/${key}`
  return {
    put: (key, source) => put(bucket, at(key), source).catch(unavailable),
    async *read(key, from, to) {
      if (from >= to) return
      const object = await bucket.get(at(key), { range: { offset: from, length: to - from } })
      if (object === null) throw new Error(`The bucket has no content ${key}.`)
      let length = 0
      for await (const chunk of new RequestBody(object.body).chunks!) {
        length += chunk.length
        yield chunk
      }
      if (length !== to - from) throw new Error(`The content ${key} has ${from + length} bytes, not ${to}.`)
    },
    has: async (key) => (await bucket.head(at(key))) !== null,
    remove: (key) => bucket.delete(at(key)),
    async *list() {
      for await (const { key, uploaded } of objectsOf(bucket, slug))
        yield { key: key.slice(slug.length + 1), at: uploaded.getTime() }
    },
  }
}

/** Removes all contents of a tenant. */
export async function dropContents(bucket: FileBucket, slug: string): Promise<void> {
  const keys: string[] = []
  for await (const { key } of objectsOf(bucket, slug)) keys.push(key)
  for (const key of keys) await bucket.delete(key)
}

async function put(bucket: FileBucket, key: string, source: AsyncIterable<Uint8Array>): Promise<void> {
  let upload: Awaited<ReturnType<FileBucket['createMultipartUpload']>> | null = null
  const parts: unknown[] = []
  try {
    for await (const { bytes, isLast } of partsOf(source)) {
      if (isLast && upload === null) return void (await bucket.put(key, bytes))
      upload ??= await bucket.createMultipartUpload(key)
      parts.push(await upload.uploadPart(parts.length + 1, bytes))
    }
    await upload!.complete(parts)
  } catch (reason) {
    await upload?.abort().catch(() => {})
    throw reason
  }
}

async function* objectsOf(bucket: FileBucket, slug: string): AsyncGenerator<{ key: string; uploaded: Date }> {
  for (let cursor: string | undefined; ; ) {
    const page = await bucket.list({ prefix: `${slug}/`, ...(cursor && { cursor }) })
    yield* page.objects
    if (!page.truncated) return
    cursor = page.cursor
  }
}
