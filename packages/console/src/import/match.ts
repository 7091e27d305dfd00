import type { Field } from '@tildebase/nouns'
import { targetsOf } from '../values/noun.ts'

/** The entities that one cell names. */
export interface Match {
  readonly ids: readonly string[]
}

/** For each relation, what its cells name. */
export type Matches = ReadonlyMap<string, ReadonlyMap<string, Match>>

/** Relations with the same targets share what was found. */
export function fieldOfMatch(field: Field): string {
  return targetsOf(field).join(' ')
}
