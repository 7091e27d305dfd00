import { stat } from 'node:fs/promises'
import { isoOf } from '@tildebase/nouns'
import { quotaWarning } from '@tildebase/tenant/internal'
import type { HttpRequest, HttpResponse } from '../../doors/http.ts'
import { json, render } from '../../doors/reply.ts'
import { parseTenantsRequest } from '../../doors/watch/log-request.ts'
import type { AdminDeps } from '../operator/restore.ts'
import { usedBytes } from '../sqlite/used-bytes.ts'

/** A page of all tenants by name, with the size of their files and the time of their last write. */
export async function listTenants({ query }: HttpRequest, deps: AdminDeps): Promise<HttpResponse> {
  // After the last tenant of the page before: one that is created or deleted meanwhile moves no other to another page.
  const { after, offset, limit } = parseTenantsRequest(query)
  const all = [...new Set([...(await deps.files.allSlugs()), ...deps.restoring.slugs])].sort()
  const left = all.filter((slug) => slug > after)
  const page = left.slice(offset, offset + limit)
  const hasMore = offset + limit < left.length
  const rows = await Promise.all(page.map((slug) => rowOf(slug, deps)))
  const results = rows.filter((row) => row !== null)
  return render(json(200, { results, total: all.length, hasMore, cursor: hasMore ? page.at(-1)! : null }))
}

/** A tenant in the list; null when it was deleted a moment ago. */
async function rowOf(
  tenant: string,
  { files, restoring, isQuarantined, tenantLimit, damageOf }: AdminDeps,
): Promise<object | null> {
  const isRestoring = restoring.progressOf(tenant) !== null
  const path = isRestoring ? restoring.pathOf(tenant) : files.pathOf(tenant)
  const [file, log] = await Promise.all([path, `${path}-wal`].map((one) => stat(one).catch(() => null)))
  if (!file) return null
  const damage = damageOf(tenant)
  // A log without anything in it was made by a reader.
  const writtenAt = Math.max(file.mtimeMs, log && log.size > 0 ? log.mtimeMs : 0)
  return {
    tenant,
    bytes: file.size,
    ...(tenantLimit !== null && (await quotaOf(path, tenantLimit))),
    updatedAt: isoOf(Math.floor(writtenAt)),
    ...(isRestoring && { restoring: true }),
    ...(isQuarantined(tenant) && { quarantined: true }),
    ...(damage !== null && { damage }),
  }
}

/** The limit of a tenant and what to say about it. */
export async function quotaOf(path: string, limit: number): Promise<object> {
  const used = await usedBytes(path)
  const warning = used === null ? null : quotaWarning(used, limit)
  return { limit, ...(warning && { warning }) }
}
