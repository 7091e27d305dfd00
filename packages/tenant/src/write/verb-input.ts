import { type Issue, invalid, type Json, type JsonObject, type Noun, Problem, type Verb } from '@tildebase/nouns'
import { INTERNAL_TYPES } from '../engine/types.ts'
import { isId } from '../ids.ts'
import { type Current, currentOf } from '../store/entities.ts'
import { hasEntry } from '../store/log/log.ts'
import { MissingReferences } from './references.ts'
import type { VerbRequest } from './verb-request.ts'
import type { Write } from './write.ts'

const MAX_ENTITY_BYTES = 1_048_576

/** The verb of that name, or a problem that names those there are. */
export function verbOf(noun: Noun, name: string): Verb {
  const verb = Object.hasOwn(noun.verbs, name) ? noun.verbs[name] : undefined
  if (verb) return verb
  const isBuiltIn = name === 'update' || name === 'delete'
  const verbs = Object.keys(noun.verbs)
  throw new Problem(
    isBuiltIn ? 'method_not_allowed' : 'unknown_verb',
    `${noun.name} has no verb ${name}. It has ${verbs.join(', ')}.`,
    { type: noun.name, verbs },
  )
}

/** The entity that a verb runs on, if the sender has seen its newest version. */
export function currentFor(write: Write, noun: Noun, verb: Verb, { id = '', ifVersions }: VerbRequest): Current {
  const current = currentOf(write.sql, noun.name, id)
  const exists = current && (verb.name === 'restore' || !current.deleted)
  if (!exists) throw notFound(noun.name, id)
  if (ifVersions?.includes(current.version) === false) {
    const expected = ifVersions.length > 0 ? `, not ${ifVersions.join(' or ')}` : ''
    throw new Problem(
      'version_mismatch',
      `The ${noun.name} has version ${current.version}${expected}. Read it again and retry.`,
      { type: noun.name, id: current.id, version: current.version },
    )
  }
  return current
}

export function notFound(type: string, id: string): Problem {
  return new Problem('not_found', `There is no ${type} ${id}.`, { type, id })
}

export function objectOf(noun: Noun, data: unknown): JsonObject {
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data as JsonObject
  throw invalid(noun.name, [{ field: '', message: 'the body must be a JSON object' }])
}

export function refuse(noun: Noun, issues: readonly Issue[], references: readonly Issue[]): void {
  if (issues.length > 0) throw invalid(noun.name, [...issues, ...references])
  if (references.length > 0) throw new MissingReferences(noun, references)
}

/** The id that a draft brings along, where that is allowed. */
export function keptId({ sql }: Write, noun: Noun, { keepId, data }: VerbRequest): string | null {
  const id = keepId ? (data as JsonObject).$id : undefined
  const isWellFormed = isId(id, noun.prefix) || (typeof id === 'string' && INTERNAL_TYPES.get(noun.name) !== undefined)
  if (!isWellFormed) return null
  const isTaken = noun.storage === 'log' ? hasEntry(sql, id) : currentOf(sql, noun.name, id) !== undefined
  if (isTaken) {
    throw new Problem('conflict', `The ${noun.name} ${id} already exists.`, { type: noun.name, id, field: '$id' })
  }
  return id
}

/** The arguments of a verb as its event keeps them; null when there are none. Secrets never stay in the log. */
export function argumentsText(noun: Noun, args: JsonObject): string | null {
  if (INTERNAL_TYPES.get(noun.name) !== undefined) return null
  const kept = Object.entries(args).filter(([name]) => noun.fields[name]?.kind !== 'secret')
  return kept.length === 0 ? null : textOf(noun, Object.fromEntries(kept))
}

/** An entity as it is stored, if it is not too large. */
export function textOf(noun: Noun, data: { readonly [field: string]: Json }): string {
  const text = JSON.stringify(data)
  // No character takes more than three bytes per unit of its length: most texts need no counting.
  const bytes = text.length * 3 > MAX_ENTITY_BYTES ? new TextEncoder().encode(text).length : 0
  if (bytes > MAX_ENTITY_BYTES) {
    throw new Problem('too_large', `A ${noun.name} may have at most 1 MiB of JSON; this one has ${bytes} bytes.`, {
      type: noun.name,
      limit: MAX_ENTITY_BYTES,
    })
  }
  return text
}
