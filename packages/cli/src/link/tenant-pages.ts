import type { Wire } from '@tildebase/client'

/** A tenant in the operator's list. */
export interface ListedTenant {
  readonly [field: string]: unknown
  readonly tenant: string
  /** When its file was written to last, on hosts that know. */
  readonly updatedAt?: string
  readonly quarantined?: true
  readonly restoring?: true
}

/** A page of the operator's list of tenants. */
interface TenantPage {
  readonly results: readonly ListedTenant[]
  readonly total: number
  readonly cursor: string | null
  /** When the service answered, in milliseconds; null when it did not say. */
  readonly date: number | null
}

/** All tenants of a service, page by page. */
export async function* tenantPages(wire: Wire, limit?: number): AsyncGenerator<TenantPage> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const response = await wire.send('/operator/tenants', { query: { limit, cursor } })
    const page = (await response.json()) as Omit<TenantPage, 'date'>
    const date = Date.parse(response.headers.get('date') ?? '')
    yield { ...page, date: Number.isNaN(date) ? null : date }
    cursor = page.cursor ?? null
  }
}
