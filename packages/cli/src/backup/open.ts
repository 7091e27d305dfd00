import type { Archive } from './archive/archive.ts'
import { FolderArchive } from './archive/folder-archive.ts'
import { folderPlace, type Place } from './place.ts'

export function isBucket(address: string): boolean {
  return address.startsWith('s3://')
}

/** The place that an address names: `backups/acme`, or `s3://bucket/prefix`. */
export async function placeOf(address: string): Promise<Place> {
  if (!isBucket(address)) return folderPlace(address)
  const { bucketPlace } = await import('./bucket-place.ts')
  return bucketPlace(address, process.env)
}

/** The backup of a tenant at a place, after its last complete event. */
export async function openArchive(place: Place, tenant: string): Promise<Archive> {
  if (!isBucket(place.name)) return FolderArchive.open(place.name, tenant)
  const { BucketArchive } = await import('./archive/bucket-archive.ts')
  return BucketArchive.open(place, tenant)
}
