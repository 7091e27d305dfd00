import { type Json, type JsonObject, Problem, sameJson } from '@tildebase/nouns'
import type { AnyJson } from '../transport/any-json.ts'
import type { WriteOptions } from './written.ts'

/** What an upsert needs of a collection. */
interface Target {
  readonly type: string
  find(filter: JsonObject, options: { limit: number; signal?: AbortSignal | undefined }): Promise<readonly JsonObject[]>
  create(draft: JsonObject, options: WriteOptions): Promise<AnyJson>
  update(id: string, patch: JsonObject, options: WriteOptions): Promise<AnyJson>
}

/** Creates the entity that `match` identifies, or changes the fields in which it differs. */
export async function upsert(
  target: Target,
  match: JsonObject,
  draft: JsonObject,
  options: WriteOptions,
  isAgain = false,
): Promise<JsonObject> {
  const { signal } = options
  const [known, other] = await target.find(match, { limit: 2, signal })
  if (other) {
    const names = Object.keys(match).join(', ')
    throw new Problem('conflict', `Several ${target.type} entities have this ${names}. Upsert by a unique field.`)
  }
  if (known) {
    const news = Object.entries(draft).filter(([name, value]) => !sameJson(value as Json, known[name] ?? null))
    return news.length === 0 ? known : target.update(String(known.$id), Object.fromEntries(news), options)
  }
  try {
    return await target.create({ ...match, ...draft }, { signal })
  } catch (reason) {
    // Another client created it in the meantime.
    if (isAgain || !(reason instanceof Problem && reason.code === 'conflict')) throw reason
    return upsert(target, match, draft, options, true)
  }
}
