import type { Noun } from '@tildebase/nouns'
import { type Grant, type Query, type Ready, readyFor, type Tenant } from '@tildebase/tenant'
import type { Call } from '../call.ts'
import { findQuery, readerFor } from './params.ts'

/** What a list asks for, and how that is found if it was found out before. */
export interface Question {
  readonly query: Query
  readonly ready: Ready | null
}

/** A question with what it was read under. */
interface Known extends Question {
  readonly grant: Grant
  /** The indexed fields of the type: another list once a type changes. */
  readonly fields: unknown
}

const MOST = 100
const LONGEST = 1_000

/** The questions asked lately of each tenant, by their text: most lists are asked again and again. */
const LATELY = new WeakMap<Tenant, Map<string, Known>>()

/** The question of a list request. It is read and planned once, as long as the key and the types stay as they are. */
export function questionFor(call: Call, noun: Noun): Question {
  const { tenant, grant, lens, query } = call
  if (query.has('cursor')) return { query: findQuery(call, noun), ready: null }
  const text = JSON.stringify([noun.name, lens.industry, ...query])
  const known = LATELY.get(tenant) ?? new Map<string, Known>()
  LATELY.set(tenant, known)
  const fields = tenant.indexed(noun)
  const found = known.get(text)
  if (found?.grant === grant && found.fields === fields) return found
  const asked = findQuery(call, noun)
  const ready = readyFor(readerFor(call), asked)
  if (ready.statement === null || text.length > LONGEST) return { query: asked, ready }
  if (known.size >= MOST) known.clear()
  const kept = { query: asked, ready, grant, fields }
  known.set(text, kept)
  return kept
}
