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
}

/** A query with what it was read under. */
interface Entry extends CachedQuery {
  readonly grant: Grant
  /** The indexed fields of the type: another list once a type changes. */
  readonly fields: unknown
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
  const key = `plan ${noun.name} ${text}`
  const fields = engine.indexed(noun)
  const found = engine.cache.peek<Entry>(key)
  if (found?.grant === grant && found.fields === fields) return found
  const query = parse()
  const prepared = prepareQuery(reader, query)
  // Only with a statement may a plan be used again: any other depends on more than the types.
  if (prepared.statement === null || text.length > LONGEST) return { key, query, prepared }
  return engine.cache.set(SCHEMA, key, { key, query, prepared, grant, fields })
}

const SCHEMA = ['Schema']

/** Whether a question took long when it was last asked: it is then not tried in one piece. */
export function isSlow(engine: Engine, { key }: CachedQuery): boolean {
  return engine.cache.peek(slowKey(key)) === true
}

/** Remembers that a question takes long, until its types change. */
export function rememberSlow(engine: Engine, { key }: CachedQuery): void {
  engine.cache.set(SCHEMA, slowKey(key), true)
}

function slowKey(key: string): string {
  return `slow ${key.slice(0, LONGEST)}`
}
