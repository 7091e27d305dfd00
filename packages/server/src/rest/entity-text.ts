import { isoOf, type Noun } from '@tildebase/nouns'
import { entityText, entityView, lastUsed, type Page, parseFields, project, type Stored } from '@tildebase/tenant'
import type { Call } from '../call.ts'

/** A page in the list envelope, as JSON text. */
export function pageText(page: Page, text: (entity: Stored) => string): string {
  const results = page.results.map(text).join(',')
  const total = page.total === undefined ? '' : `"total":${page.total},`
  return `{"results":[${results}],${total}"hasMore":${page.hasMore},"cursor":${JSON.stringify(page.cursor)}}`
}

/** How the call wants an entity written: whole, as it is stored, or some of its fields. */
export function textFor(call: Call, noun: Noun): (entity: Stored) => string {
  const fields = parseFields(call.query.get('fields'), noun)
  const whole = noun.name === 'ApiKey' ? (entity: Stored) => withUse(call, entity) : (entity: Stored) => entity
  if (fields === null) return (entity) => entityText(whole(entity), call.context)
  const embedded = String(call.query.get('include') ?? '').split(',')
  return (entity) => JSON.stringify(project(entityView(whole(entity), call.context), fields, embedded))
}

/** When a key was last used is no version of it: it is told, and not written at every request. */
function withUse(call: Call, entity: Stored): Stored {
  const at = lastUsed(call.tenant, entity.id)
  return at === null ? entity : { ...entity, extra: { ...entity.extra, lastUsedAt: isoOf(at) } }
}
