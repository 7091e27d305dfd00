import { isPlainObject, type Noun } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { type Grant, may } from '../../grant/grant.ts'
import type { Action } from '../../grant/scopes.ts'

const COMMENT = 'Comment'

/**
 * The rule for comments: a grant that may read an entity may read and write the comments about it. The grant for an
 * action on a type is the grant itself; for comments that its scopes do not cover it is one that is narrowed to these. What
 * is stored has the scopes of its author only.
 */
export function grantOn(engine: Engine, grant: Grant, noun: Noun, action: Action): Grant {
  if (noun.name !== COMMENT || grant.author || (action !== 'read' && action !== 'write')) return grant
  if (may(grant, action, noun) || Object.hasOwn(grant.rows, COMMENT)) return grant
  const about = commentsAbout(engine, grant)
  if (about.length === 0) return grant
  return {
    ...grant,
    scopes: [...grant.scopes, { action: 'write', area: COMMENT }],
    rows: { ...grant.rows, [COMMENT]: { $or: about } },
  }
}

/** Filters for the comments about entities that a grant may read: the id of an entity begins with the name of its type. */
function commentsAbout({ nouns }: Engine, grant: Grant): object[] {
  return nouns.all.flatMap((noun): object[] => {
    if (noun.storage !== 'entity' || noun.name === COMMENT || !may(grant, 'read', noun)) return []
    const ofType = { about: { $gte: `${noun.prefix}_`, $lt: `${noun.prefix}\`` } }
    if (!Object.hasOwn(grant.rows, noun.name)) return [ofType]
    return [{ $and: [ofType, throughAbout(grant.rows[noun.name])] }]
  })
}

/** A filter on an entity, as one on the comments about it. */
function throughAbout(filter: unknown): unknown {
  if (!isPlainObject(filter)) return filter
  return Object.fromEntries(
    Object.entries(filter).map(([key, value]) =>
      key.startsWith('$') && Array.isArray(value) ? [key, value.map(throughAbout)] : [`about.${key}`, value],
    ),
  )
}
