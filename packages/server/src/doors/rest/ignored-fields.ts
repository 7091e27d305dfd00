import { isPlainObject, type Json, META_FIELDS, type Noun, sameJson } from '@tildebase/nouns'
import type { UnknownField } from '@tildebase/tenant/internal'
import type { Reply } from '../reply.ts'

/** A name that the service knows, and that has no effect in a request. */
interface IgnoredName extends UnknownField {
  readonly warning: 'ignored'
}

type Members = { readonly [name: string]: unknown }

/** The warning of a name without an effect. */
export function ignored(field: string): IgnoredName {
  return { field, nearest: null, warning: 'ignored' }
}

/** The names in a body that only the service sets: meta-fields, and fields such as the status of an ApiKey. */
export function serviceNamesIn(body: unknown, { fields }: Noun): readonly string[] {
  if (!isPlainObject(body)) return []
  return Object.keys(body).filter((name) => {
    if (Object.hasOwn(META_FIELDS, name) || name === '$context') return true
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    return field !== undefined && 'service' in field && field.service && !('computed' in field)
  })
}

/** Those of the names whose value the entity does not have. A client may send back what it has read. */
export function ignoredAmong(names: readonly string[], body: Members, { content }: Reply): readonly IgnoredName[] {
  const entity = content?.value()
  if (!isPlainObject(entity) || typeof entity.$id !== 'string') return []
  return names.filter((name) => !isOf(entity, name, body[name])).map(ignored)
}

/** Whether an entity has this value, or had it before the write. */
function isOf(entity: Members, name: string, value: unknown): boolean {
  switch (name) {
    case '$version':
      return value === entity.$version || value === Number(entity.$version) - 1
    case '$updatedAt':
    case 'updatedAt':
      return typeof value === 'string' && value >= String(entity.$createdAt) && value <= String(entity.$updatedAt)
    default:
      return sameJson((value ?? null) as Json, (entity[name] ?? null) as Json)
  }
}
