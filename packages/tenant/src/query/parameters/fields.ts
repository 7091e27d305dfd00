import { type JsonObject, META_FIELDS, type Noun, Problem, quoted } from '@tildebase/nouns'

const ALWAYS = ['$id', '$type']

/** Parses `name,email`, or a list of names, into the fields to show; null shows all of them. */
export function parseFields(input: unknown, noun: Noun): string[] | null {
  if (input === undefined || input === null || input === '') return null
  const names = typeof input === 'string' ? input.split(',').map((name) => name.trim()) : input
  if (!Array.isArray(names)) throw wrong(noun, 'fields', 'fields must be field names, such as name,email.')
  for (const name of names) {
    if (typeof name !== 'string' || name === '')
      throw wrong(noun, 'fields', 'fields must be field names, such as name,email; one is empty.')
    const known = Object.hasOwn(META_FIELDS, name) || name === '$context'
    if (!known && /^\$|\./.test(name))
      throw wrong(noun, name, `${quoted(name)} is not a field. Use top-level fields, such as name,email.`)
    if (Object.hasOwn(noun.fields, name) && noun.fields[name]!.kind === 'secret')
      throw wrong(noun, name, `${quoted(name)} is never returned.`)
    if (!known && noun.strict && !Object.hasOwn(noun.fields, name))
      throw wrong(noun, name, `${noun.name} has no field ${quoted(name)}.`)
  }
  return names
}

/** An entity with these fields only. `$id` and `$type` always come along, and so do embedded relations. */
export function project(
  entity: JsonObject,
  fields: readonly string[] | null,
  embedded: readonly string[] = [],
): JsonObject {
  if (fields === null) return entity
  const shown = new Set([...ALWAYS, ...fields, ...embedded.map((name) => name.split('.')[0]!)])
  return Object.fromEntries(Object.entries(entity).filter(([name]) => shown.has(name)))
}

function wrong(noun: Noun, field: string, message: string): Problem {
  return new Problem('invalid_fields', message, { type: noun.name, field: quoted(field) })
}
