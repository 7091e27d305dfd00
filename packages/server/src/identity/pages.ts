import type { HttpRequest, HttpResponse } from '../http.ts'
import type { RequestTarget } from '../target.ts'
import { metadataPage } from './metadata.ts'

export interface IdentityPageOptions {
  readonly baseUrl: string | null
}

/** Pages and documents about signing in to a tenant that need no tenant; null for every other path. */
export function identityPage(
  ask: HttpRequest,
  place: RequestTarget,
  { baseUrl }: IdentityPageOptions,
): HttpResponse | null {
  return metadataPage(ask, place, baseUrl)
}
