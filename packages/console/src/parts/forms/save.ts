import { signal } from '@preact/signals'
import type { Json } from '@tildebase/nouns'
import { type Page, titleOf } from '../../service/schema.ts'
import { request } from '../../service/service.ts'
import { isConflict, sayDone, write } from '../../service/write.ts'
import { t } from '../../texts/text.ts'
import type { Version } from '../../values/diff.ts'
import type { Draft, Entity } from '../../values/entity.ts'
import { type Merge, mergeOf } from '../../values/merge.ts'
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
      sayDone(t('{} saved.', titleOf({ ...base, ...value }, noun)), correlation)
      return true
    } catch (reason) {
      if (!isConflict(reason)) throw reason
      const theirs = await request<Entity>('GET', `/${noun.name}/${base.$id}`)
      const merge = mergeOf(ownFields(noun, known), body, ownFields(noun, theirs))
      const decided =
        merge.conflicts.length === 0
          ? {}
          : await decide({ noun, mine: body, theirs, merge, by: await changedBy(noun, base) })
      if (decided === null) return false
      body = { ...merge.safe, ...decided }
      known = theirs
      version = theirs.$version
    }
  }
}

/** The fields of the entity itself: embedded entities that refer to it are left out. */
function ownFields(noun: Noun, entity: Entity): { readonly [field: string]: Json } {
  return Object.fromEntries(Object.entries(entity).filter(([name]) => noun.fields[name]?.kind !== 'back'))
}

/** Who changed the entity since it was read, the newest first. */
async function changedBy(noun: Noun, { $id, $version }: Entity): Promise<readonly Author[]> {
  const path = `/${noun.name}/${$id}/history`
  const { results } = await request<Page<Version>>('GET', path, { query: { limit: 20 } })
  const later = results.filter(({ version }) => version > $version)
  return [...new Map(later.toReversed().map(({ actor, timestamp }) => [actor, { actor, at: timestamp }])).values()]
}

function decide(about: Omit<Clash, 'resolve'>): Promise<Draft | null> {
  return new Promise((done) => {
    clash.value = {
      ...about,
      resolve(decided) {
        clash.value = null
        done(decided)
      },
    }
  })
}
