import type { Json } from '@tildebase/nouns'
import type { Page } from '../../service/schema.ts'
import { request } from '../../service/service.ts'
import { isOwn } from '../../service/write.ts'
import type { Version } from '../../values/diff.ts'
import type { Draft, Entity } from '../../values/entity.ts'
import { type Merge, mergeOf } from '../../values/merge.ts'
import type { Noun } from '../../values/noun.ts'
import { type Clash, clash } from './clash.ts'

/** How many versions are read to find out who made them. */
const MOST_VERSIONS = 20

/** What to save of a change that met a newer version: people decide about fields that both changed. Null when they give up. */
export async function merged(noun: Noun, known: Entity, mine: Draft, theirs: Entity): Promise<Draft | null> {
  const merge = mergeOf(ownFields(noun, known), mine, ownFields(noun, theirs))
  const decided = merge.conflicts.length === 0 ? {} : await decide(noun, mine, theirs, merge, known)
  return decided && { ...merge.safe, ...decided }
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
