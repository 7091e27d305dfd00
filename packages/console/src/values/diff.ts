import type { Version as ClientVersion } from '@tildebase/client'
import type { Json, Noun } from '@tildebase/nouns'

export type Version = ClientVersion<Noun>

export interface Change {
  readonly field: string
  readonly before: Json | undefined
  readonly after: Json | undefined
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

export function isMeta(name: string): boolean {
  return name.startsWith('$') || name === 'createdAt' || name === 'updatedAt'
}
