import { type Filter, isPlainObject, type Json, orderedJson } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { type Grant, may, seesSomeChangesets } from '../../grant/grant.ts'
import { CHANGESET } from '../../grant/scopes.ts'
import { loggedTypes } from '../../store/log/stream.ts'
import { hexOf } from '../../store/non-log-tables.ts'
import { filterOf } from '../parameters/filter.ts'

/**
 * The rule for changesets: a grant sees one if it covers the rights that it was proposed with, on the types that it
 * touches. It may read each of these types; and where it is narrowed to rows of one, so was its author, to the same rows
 * or to fewer. All that a changeset holds, its title and comments included, is then about rows that the grant sees.
 * The filter that says so, or null when the grant sees all of them.
 */
export function changesetRows(engine: Engine, grant: Grant): Filter | null {
  if (!seesSomeChangesets(grant)) return null
  const { actor, scopes, rows } = grant
  return engine.cache.get(['Schema'], `changesets ${JSON.stringify([actor, scopes, rows])}`, () => {
    const unreadable = engine.nouns.all.filter((noun) => !may(grant, 'read', noun)).map(({ name }) => name)
    const narrowed = Object.entries(rows).filter(([type]) => type !== CHANGESET)
    return filterOf(engine, engine.noun(CHANGESET), {
      $and: [
        // One without operations is its author's alone.
        { $or: [{ types: { $exists: true } }, { author: actor }] },
        { types: { $nin: unreadable } },
        ...narrowed.map(([type, filter]) => ({
          $or: [{ types: { $nin: [type] } }, { audience: audienceOf(engine, type, filter) }],
        })),
        ...(Object.hasOwn(rows, CHANGESET) ? [rows[CHANGESET]] : []),
      ],
    })
  })
}

/** Whether there are changesets that the grant may not see. */
export function hidesChangesets(engine: Engine, grant: Grant): boolean {
  return seesSomeChangesets(grant) && engine.cache.get([CHANGESET], 'any changesets', () => hasChangesets(engine))
}

/** The audiences of what a grant proposes: one for each row filter that its rows of these types are within. */
export function audiencesOf(engine: Engine, grant: Grant, types: readonly string[]): string[] {
  return types.flatMap((type) =>
    Object.hasOwn(grant.rows, type) ? filtersIn(grant.rows[type]).map((one) => audienceOf(engine, type, one)) : [],
  )
}

/** A row filter of a type as a digest: the filter of a key is nothing that others may read. */
function audienceOf({ ports }: Engine, type: string, filter: unknown): string {
  return hexOf(ports.seal.sha256(type, ' ', orderedJson(filter as Json))).slice(0, 32)
}

/** A filter, and those that it consists of. */
function filtersIn(filter: unknown): unknown[] {
  const parts = isPlainObject(filter) && Array.isArray(filter.$and) ? filter.$and : []
  return [filter, ...parts.flatMap(filtersIn)]
}

function hasChangesets({ sql }: Engine): boolean {
  return loggedTypes(sql).includes(CHANGESET)
}
