import { titleOf } from '../../service/schema.ts'
import { request } from '../../service/service.ts'
import { isConflict, sayDone, write } from '../../service/write.ts'
import { t } from '../../texts/text.ts'
import type { Draft, Entity } from '../../values/entity.ts'
import type { Noun } from '../../values/noun.ts'

/**
 * Saves changed fields with the version that was read. Changes of others to other fields are merged without a question;
 * fields that both changed are put to people. False when they gave up.
 */
export async function saveFields(noun: Noun, base: Entity, changed: Draft): Promise<boolean> {
  let version = base.$version
  let body = changed
  let known: Entity = base
  for (;;) {
    try {
      const path = `/${noun.name}/${base.$id}`
      const { value, correlation } = await write<Entity>({ method: 'PUT', path, body, version, type: noun.name })
      sayDone(t('{} saved.', titleOf({ ...base, ...value }, noun)), correlation)
      return true
    } catch (reason) {
      if (!isConflict(reason)) throw reason
      const theirs = await request<Entity>('GET', `/${noun.name}/${base.$id}`)
      const { merged } = await import('./conflict.ts')
      const next = await merged(noun, known, body, theirs)
      if (next === null) return false
      body = next
      known = theirs
      version = theirs.$version
    }
  }
}
