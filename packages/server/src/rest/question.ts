import type { Noun } from '@tildebase/nouns'
import { type Engine, type Grant, type PreparedQuery, prepareQuery, type Query } from '@tildebase/tenant'
import type { Call } from '../call.ts'
import { findQuery, readerFor } from './params.ts'

/** What a list asks for, and how that is found if it was found out before. */
export interface ListRequest {
  readonly query: Query
  readonly ready: PreparedQuery | null
}

/** A question with what it was read under. */
interface Known extends ListRequest {
  readonly grant: Grant
  /** The indexed fields of the type: another list once a type changes. */
  readonly fields: unknown
}

const MOST = 100
const LONGEST = 1_000

/** The questions asked lately of each tenant, by their text: most lists are asked again and again. */
const LATELY = new WeakMap<Engine, Map<string, Known>>()

/** The question of a list request. It is read and planned once, as long as the key and the types stay as they are. */
export function listRequestOf(call: Call, noun: Noun): ListRequest {
  const { tenant, grant, lens, query } = call
  if (query.has('cursor')) return { query: findQuery(call, noun), ready: null }
  const text = JSON.stringify([noun.name, lens.industry, ...query])
  const known = LATELY.get(tenant) ?? new Map<string, Known>()
  LATELY.set(tenant, known)
  const fields = tenant.indexed(noun)
  const found = known.get(text)
  if (found?.grant === grant && found.fields === fields) return found
  const asked = findQuery(call, noun)
  const ready = prepareQuery(readerFor(call), asked)
  if (ready.statement === null || text.length > LONGEST) return { query: asked, ready }
  if (known.size >= MOST) known.clear()
  const kept = { query: asked, ready, grant, fields }
  known.set(text, kept)
  return kept
}
