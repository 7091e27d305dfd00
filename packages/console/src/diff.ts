import type { Json } from './schema.ts'

export interface Change {
  readonly field: string
  readonly before: Json | undefined
  readonly after: Json | undefined
}

/** One version of an entity, as its history tells it. */
export interface Version {
  readonly version: number
  readonly seq: number
  readonly timestamp: string
  readonly verb: string
  readonly event: string
  readonly actor: string
  readonly correlation: string | null
  readonly data: { readonly [field: string]: Json } | null
  readonly previous: { readonly [field: string]: Json } | null
}

/** What a version changed, field by field: `previous` holds what its fields were before. */
export function changesOf({ data, previous, verb }: Pick<Version, 'data' | 'previous' | 'verb'>): Change[] {
  if (verb === 'delete') return []
  const own = Object.entries(data ?? {}).filter(([name]) => !isMeta(name))
  if (!previous) return own.map(([field, after]) => ({ field, before: undefined, after }))
  return Object.keys(previous)
    .filter((name) => !isMeta(name))
    .map((field) => ({ field, before: previous[field], after: data?.[field] ?? undefined }))
}

function isMeta(name: string): boolean {
  return name.startsWith('$') || name === 'createdAt' || name === 'updatedAt'
}
