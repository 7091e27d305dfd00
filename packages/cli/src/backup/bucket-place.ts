import { Problem } from '@tildebase/nouns'
import { Bucket, BucketRefusal, readBucket } from '@tildebase/server/bucket'
import { UsageError } from '../parse/usage-error.ts'
import type { Place } from './place.ts'

/** A part of a bucket, by its address `s3://bucket/prefix` and the variables TILDE_S3_…. */
export function bucketPlace(address: string, env: NodeJS.ProcessEnv): Place {
  const name = address.replace(/\/+$/, '')
  const bucket = new Bucket(settingsOf(name, env))
  return {
    name,
    within: (part) => bucketPlace(`${name}/${part}`, env),
    async list(prefix) {
      const keys: string[] = []
      const listing = async () => {
        for await (const { key } of bucket.list(prefix)) keys.push(key)
      }
      await listing().catch(refused(name))
      return keys.sort()
    },
    has: async (key) => (await bucket.size(key).catch(refused(name))) !== null,
    async *read(key) {
      try {
        yield* bucket.read(key, 0, (await bucket.size(key)) ?? 0)
      } catch (reason) {
        refused(name)(reason)
      }
    },
    put: (key, source) => bucket.put(key, source).catch(refused(name)),
  }
}

function settingsOf(address: string, env: NodeJS.ProcessEnv): ReturnType<typeof readBucket> {
  try {
    return readBucket(address, address, env)
  } catch (reason) {
    throw new UsageError((reason as Error).message)
  }
}

/** A bucket that fails for the moment is like a service that does: the backup continues later. */
function refused(name: string): (reason: unknown) => never {
  return (reason) => {
    if (reason instanceof Problem) throw reason
    const { message } = reason as Error
    if (reason instanceof BucketRefusal && reason.status < 500 && ![408, 429].includes(reason.status))
      throw new Problem('forbidden', `${name} refused the request. ${message}`)
    throw new Problem('unreachable', `${name} cannot be reached. ${message}`)
  }
}
