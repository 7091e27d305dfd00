import type { Noun } from '@tildebase/nouns'
import { entityView, type Stored } from '@tildebase/tenant'
import { parseFields, project } from '@tildebase/tenant/internal'
import { type Call, listParam } from '../call.ts'
import { type Content, entityContent } from '../reply.ts'

/** The requested form of an entity: complete, as stored, or some of its fields. */
export function contentFor(call: Call, noun: Noun): (entity: Stored) => Content {
  const { context, query } = call
  const fields = parseFields(query.get('fields'), noun)
  const whole = noun.name === 'ApiKey' ? (entity: Stored) => withUse(call, entity) : (entity: Stored) => entity
  if (fields === null) return (entity) => entityContent(whole(entity), context)
  const embedded = listParam(query, 'include')
  return (entity) => {
    const value = () => project(entityView(whole(entity), context), fields, embedded)
    return { value, text: () => JSON.stringify(value()) }
  }
}

/** When a key was last used is not a version of it: it is shown, and not written at every request. */
function withUse({ read }: Call, entity: Stored): Stored {
  const lastUsedAt = read.lastUsed(entity.id)
  return lastUsedAt === null ? entity : { ...entity, extra: { ...entity.extra, lastUsedAt } }
}
