import { signal } from '@preact/signals'
import { titleOf } from '../../service/schema.ts'
import { request } from '../../service/service.ts'
import { isConflict, sayDone, write } from '../../service/write.ts'
import type { Entity } from '../../values/entity.ts'
import { type Merge, mergeOf } from '../../values/merge.ts'
import type { Noun } from '../../values/noun.ts'
import type { Draft } from './form.tsx'

/** A change that met a newer version of its entity. */
export interface Clash {
  readonly noun: Noun
  readonly mine: Draft
  readonly theirs: Entity
  readonly merge: Merge
  /** Continues with the fields that people decided on, or gives up with null. */
  resolve(decided: Draft | null): void
}

/** The clash that people have to decide about, if there is one. */
export const clash = signal<Clash | null>(null)

/**
 * Saves changed fields with the version that was read. Changes of others to other fields are merged without a question;
 * fields that both changed are put to people. False when they gave up.
 */
export async function saveFields(noun: Noun, base: Entity, changed: Draft): Promise<boolean> {
  let version = base.$version
  let body = changed
  let known: Entity = base
  for (;;) {
    try {
      const path = `/${noun.name}/${base.$id}`
      const { value, correlation } = await write<Entity>({ method: 'PUT', path, body, version, type: noun.name })
      sayDone(`${titleOf({ ...base, ...value }, noun)} saved.`, correlation)
      return true
    } catch (reason) {
      if (!isConflict(reason)) throw reason
      const theirs = await request<Entity>('GET', `/${noun.name}/${base.$id}`)
      const merge = mergeOf(known, body, theirs)
      const decided = merge.conflicts.length === 0 ? {} : await decide(noun, body, theirs, merge)
      if (decided === null) return false
      body = { ...merge.safe, ...decided }
      known = theirs
      version = theirs.$version
    }
  }
}

function decide(noun: Noun, mine: Draft, theirs: Entity, merge: Merge): Promise<Draft | null> {
  return new Promise((done) => {
    clash.value = {
      noun,
      mine,
      theirs,
      merge,
      resolve(decided) {
        clash.value = null
        done(decided)
      },
    }
  })
}
