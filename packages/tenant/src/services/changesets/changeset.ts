import { type JsonObject, Problem } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { get } from '../../query/answer/find.ts'
import { readContextOf } from '../../query/read-context.ts'
import type { Stored } from '../../store/entities.ts'
import { checkTransition } from '../../write/state.ts'
import { notFound } from '../../write/verb.ts'

/** What a changeset says of itself. Its operations are kept apart. */
export interface Changeset {
  readonly id: string
  readonly title: string
  readonly state: 'Open' | 'Approved' | 'Rejected' | 'Stale'
  readonly author: string
  /** The seq that its oldest operation was proposed at. */
  readonly base: number
  readonly types: readonly string[]
  readonly operationCount: number
  readonly bytes: number
  readonly parts: number
  readonly comments: readonly JsonObject[]
  readonly entity: Stored
}

/** The changeset of an id, if the grant sees it. */
export function changesetOf(engine: Engine, grant: Grant, id: string): Changeset {
  const found = get(readContextOf(engine, grant), 'Changeset', id)
  if (!found) throw notFound('Changeset', id)
  return read(found)
}

/** The same, if it is open: nothing else can be changed about a changeset that is closed. */
export function openChangeset(engine: Engine, grant: Grant, id: string, verb: string): Changeset {
  const changeset = changesetOf(engine, grant, id)
  const noun = engine.noun('Changeset')
  const known = noun.verbs[verb] ?? { ...noun.verbs.approve!, name: verb }
  checkTransition(noun, known, JSON.parse(changeset.entity.data))
  return changeset
}

/** Refuses a value that is not a text of a bounded length. */
export function textIn(field: string, value: unknown, longest: number): string {
  const text = typeof value === 'string' ? value.trim() : ''
  if (text !== '' && text.length <= longest) return text
  throw new Problem('invalid_parameter', `${field} must be a string of 1 to ${longest} characters.`, { field })
}

function read(entity: Stored): Changeset {
  const data = JSON.parse(entity.data) as Omit<Changeset, 'id' | 'entity'>
  return { ...data, id: entity.id, types: data.types ?? [], comments: data.comments ?? [], entity }
}
