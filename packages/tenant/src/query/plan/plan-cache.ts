import type { Noun } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { type PreparedQuery, prepareQuery, type Query } from '../answer/find.ts'
import type { ReadContext } from '../reader.ts'

/** A query, and its plan if that was made before. */
export interface CachedQuery {
  /** Its type and text, by which it is known again. */
  readonly key: string
  readonly query: Query
  readonly prepared: PreparedQuery | null
  /** Whether it took long when it was last asked: it is then not tried in one piece. */
  readonly isSlow: boolean
}

/** What is kept of a query. */
interface Entry {
  readonly isSlow: boolean
  /** The query, if its plan may be used again. */
  readonly planned?: CachedQuery
  /** Under which it was read and planned. */
  readonly grant?: Grant
  /** The indexed fields of the type: another list once a type changes. */
  readonly fields?: unknown
}

const LONGEST = 1_000

/** The query that a string represents. It is read and planned once, as long as the key and the types stay as they are. */
export function cachedQuery(
  engine: Engine,
  reader: ReadContext,
  grant: Grant,
  noun: Noun,
  text: string,
  parse: () => Query,
): CachedQuery {
  const key = `plan ${noun.name} ${text.slice(0, LONGEST)}`
  const fields = engine.indexed(noun)
  const found = engine.cache.peek<Entry>(key)
  const isShort = text.length <= LONGEST
  if (isShort && found?.planned && found.grant === grant && found.fields === fields) return found.planned
  const query = parse()
  const planned = { key, query, prepared: prepareQuery(reader, query), isSlow: found?.isSlow ?? false }
  // Only with a statement may a plan be used again: any other depends on more than the types.
  if (isShort && planned.prepared.statement !== null)
    engine.cache.set(SCHEMA, key, { isSlow: planned.isSlow, planned, grant, fields } satisfies Entry)
  return planned
}

const SCHEMA = ['Schema']

/** Remembers that a question takes long, until its types change. */
export function rememberSlow(engine: Engine, { key }: CachedQuery): void {
  engine.cache.set(SCHEMA, key, { isSlow: true } satisfies Entry)
}
