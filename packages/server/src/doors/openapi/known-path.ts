import type { Description } from './entity-paths.ts'
import type { Schema } from './schemas.ts'

/** What is known of a path beyond its route: parameters, a body, and what it answers. */
export interface KnownPath extends Partial<Description> {
  readonly success?: Schema
  /** The other kinds of content that it answers. */
  readonly others?: { readonly [contentType: string]: Schema }
  /** True for a path that answers plain text and no JSON. */
  readonly isText?: true
}

/** Paths by their method and route. */
export type KnownPaths = { readonly [route: string]: KnownPath }

export const TEXT = { schema: { type: 'string' } }
