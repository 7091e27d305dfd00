/** The sender of a request by its headers: the operator, a key or an access token, a person's session, or none of them. */
export type Sender =
  | { readonly kind: 'operator' }
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'session'; readonly secret: string; readonly address?: string }
  | { readonly kind: 'anonymous'; readonly address?: string }
