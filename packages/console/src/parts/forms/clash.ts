import { signal } from '@preact/signals'
import type { Draft, Entity } from '../../values/entity.ts'
import type { Merge } from '../../values/merge.ts'
import type { Noun } from '../../values/noun.ts'

interface Author {
  readonly actor: string
  readonly at: string
}

/** A change that met a newer version of its entity. */
export interface Clash {
  readonly noun: Noun
  readonly mine: Draft
  readonly theirs: Entity
  readonly merge: Merge
  /** Who changed it in the meantime. */
  readonly by: readonly Author[]
  /** Continues with the fields that people decided on, or gives up with null. */
  resolve(decided: Draft | null): void
}

/** The clash that people have to decide about, if there is one. */
export const clash = signal<Clash | null>(null)
