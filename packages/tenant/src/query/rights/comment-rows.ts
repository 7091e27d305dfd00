import { allOf, type Filter, type ForwardField, type Hop, hopOf, type Noun } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { type Grant, may } from '../../grant/grant.ts'
import type { Action } from '../../grant/scopes.ts'
import { filterOf } from '../parameters/filter.ts'

export const COMMENT = 'Comment'

const NOTHING = { $id: null }

/**
 * The rule for comments: a grant that may read an entity may read and write the comments about it. The grant for an
 * action on a type is the grant itself; for comments that its scopes do not cover it is one that is narrowed to these. What
 * is stored has the scopes of its author only.
 */
export function grantOn(engine: Engine, grant: Grant, noun: Noun, action: Action): Grant {
  if (noun.name !== COMMENT || grant.author || (action !== 'read' && action !== 'write')) return grant
  if (may(grant, action, noun) || Object.hasOwn(grant.rows, COMMENT)) return grant
  if (commentedTypes(engine, grant).length === 0) return grant
  return {
    ...grant,
    scopes: [...grant.scopes, { action: 'write', area: COMMENT }],
    // `commentRows` has the filter. It is not JSON: its paths lead to one type each.
    rows: { ...grant.rows, [COMMENT]: NOTHING },
    commentsByEntity: true,
  }
}

/** The filter for the comments about entities that a grant may read, given the row filter of each type. */
export function commentRows(engine: Engine, grant: Grant, rowsOf: (type: string) => Filter | null): Filter {
  const comment = engine.noun(COMMENT)
  const about = comment.fields.about as ForwardField
  const filters = commentedTypes(engine, grant).map((noun) => {
    // The id of an entity begins with the name of its type.
    const ofType = filterOf(engine, comment, { about: { $gte: `${noun.prefix}_`, $lt: `${noun.prefix}\`` } })
    const rows = rowsOf(noun.name)
    if (rows === null) return ofType
    const hop = hopOf(comment, about, noun.name)
    // A deleted entity has no fields, and would meet `$ne`.
    const isThere = {
      op: 'exists',
      path: { text: 'about.$id', hops: [hop], field: '$id', into: [] },
      value: true,
    } as const
    return allOf([ofType, isThere, behind(hop, rows)])
  })
  return { op: 'or', of: filters }
}

/** The types that have comments a grant may read with its rights on them. */
function commentedTypes({ nouns }: Engine, grant: Grant): readonly Noun[] {
  return nouns.all.filter((noun) => noun.storage === 'entity' && noun.name !== COMMENT && may(grant, 'read', noun))
}

/** A filter on a type, as one on what a relation to it starts from. */
function behind(hop: Hop, filter: Filter): Filter {
  if ('path' in filter) {
    const { path } = filter
    return { ...filter, path: { ...path, text: `${hop.field}.${path.text}`, hops: [hop, ...path.hops] } }
  }
  if (filter.op === 'text') return filter
  if (filter.op === 'not') return { op: 'not', of: behind(hop, filter.of) }
  return { op: filter.op, of: filter.of.map((part) => behind(hop, part)) }
}
