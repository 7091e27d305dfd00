import { signal } from '@preact/signals'
import type { Json } from '@tildebase/nouns'
import { type Page, titleOf } from '../../service/schema.ts'
import { request } from '../../service/service.ts'
import { isConflict, isOwn, sayDone, write } from '../../service/write.ts'
import { t } from '../../texts/text.ts'
import type { Version } from '../../values/diff.ts'
import type { Draft, Entity } from '../../values/entity.ts'
import { type Merge, mergeOf } from '../../values/merge.ts'
import type { Noun } from '../../values/noun.ts'

/** How many versions are read to find out who made them. */
const MOST_VERSIONS = 20

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
      const decided = merge.conflicts.length === 0 ? {} : await decide(noun, body, theirs, merge, known)
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

/** What to save of the fields that were changed twice. Null when people gave up. */
async function decide(noun: Noun, mine: Draft, theirs: Entity, merge: Merge, known: Entity): Promise<Draft | null> {
  const path = `/${noun.name}/${known.$id}/history`
  const { results } = await request<Page<Version>>('GET', path, { query: { limit: MOST_VERSIONS } })
  const later = results.filter(({ version }) => version > known.$version)
  // This tab changed it itself, and the page did not show that yet: the newest change counts.
  const isKnown = later.length > 0 && later.length < MOST_VERSIONS
  const isMine = isKnown && later.every(({ correlation }) => isOwn(correlation))
  if (isMine) return Object.fromEntries(merge.conflicts.map((one) => [one.field, one.mine ?? null]))
  const by = new Map(later.toReversed().map(({ actor, timestamp }) => [actor, { actor, at: timestamp }]))
  return askPeople({ noun, mine, theirs, merge, by: [...by.values()] })
}

function askPeople(about: Omit<Clash, 'resolve'>): Promise<Draft | null> {
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
