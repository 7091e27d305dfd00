import { join } from 'node:path'
import type { BlobStore } from '@tildebase/tenant/ports'
import type { Settings } from '../../host/settings/settings.ts'
import { contentFolder, folderStore } from './folder-store.ts'

/** The folder of the contents of all tenants. */
export function contentRoot(data: string): string {
  return join(data, 'files')
}

/** Where each tenant's bytes are. A cluster has no folder that all its nodes see: it needs a bucket. */
export function blobStores({ data, cluster }: Settings): ((slug: string) => BlobStore) | undefined {
  if (cluster !== null) return undefined
  return (slug) => folderStore(contentFolder(contentRoot(data), slug))
}
