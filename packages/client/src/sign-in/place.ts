import { type Connection, type Wire, wireTo } from '../transport/wire.ts'

/** The tenant to sign in to. */
export interface Place extends Partial<Pick<Connection, 'baseUrl' | 'fetch'>> {
  readonly tenant: string
}

/** A wire without credentials, and the path of the tenant. */
export function openPlace({ tenant, baseUrl = 'http://localhost:8787', fetch }: Place): { wire: Wire; root: string } {
  const wire = wireTo({ baseUrl, ...(fetch && { fetch }), auth: { headers: async () => ({}) } })
  return { wire, root: `/~${encodeURIComponent(tenant)}` }
}
