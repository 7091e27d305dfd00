import type { HttpRequest } from './http.ts'
import type { RequestTarget } from './target.ts'

/** The sender of a request by its headers: the operator, a key or an access token, a person's session, or none of them. */
export type Sender =
  | { readonly kind: 'operator' }
  /** `address` is where failures of a key are counted that did not come as the key of a request. */
  | { readonly kind: 'secret'; readonly secret: string; readonly address?: string }
  | { readonly kind: 'session'; readonly secret: string; readonly address?: string }
  | { readonly kind: 'anonymous'; readonly address?: string }

/** One request to one tenant, as it travels from the gateway to the tenant on every host. */
export interface TenantCall {
  readonly slug: string
  readonly request: HttpRequest
  readonly target: RequestTarget
  readonly sender: Sender
  readonly requestId: string
  /** Set by a node of a cluster that has created the tenant for this request: a sign-up may have it. */
  readonly isFirst?: boolean
}
