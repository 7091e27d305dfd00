import type { Json } from '@tildebase/nouns'
import { isMeta } from './diff.ts'
import { isEntity } from './entity.ts'

type Fields = { readonly [field: string]: Json | undefined }

/** One field that both sides changed to different values. */
interface Conflict {
  readonly field: string
  readonly base: Json | undefined
  readonly mine: Json | undefined
  readonly theirs: Json | undefined
}

export interface Merge {
  /** What I changed and they did not, or what we changed alike: safe to save. */
  readonly safe: { readonly [field: string]: Json }
  readonly conflicts: readonly Conflict[]
  /** The fields that only they changed. */
  readonly theirs: readonly string[]
}

/** Compares my changes with what others made of the same entity since I read it. */
export function mergeOf(base: Fields, mine: Fields, theirs: Fields): Merge {
  const safe: { [field: string]: Json } = {}
  const conflicts: Conflict[] = []
  for (const [field, value] of Object.entries(mine)) {
    const was = plain(base[field])
    const now = plain(theirs[field])
    if (same(was, now) || same(value, now)) safe[field] = value ?? null
    else conflicts.push({ field, base: was, mine: value, theirs: now })
  }
  const others = Object.keys({ ...base, ...theirs }).filter(
    (field) => !isMeta(field) && !(field in mine) && !same(plain(base[field]), plain(theirs[field])),
  )
  return { safe, conflicts, theirs: others }
}

/** An embedded entity compares by its id. */
function plain(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((one) => plain(one) ?? null)
  return isEntity(value) ? value.$id : value
}

function same(a: Json | undefined, b: Json | undefined): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null)
}
