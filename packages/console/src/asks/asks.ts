import type { JsonObject } from '@tildebase/nouns'
import { type Data, useData } from '../service/cache.ts'
import type { Page } from '../service/schema.ts'
import { request } from '../service/service.ts'

/** A question of a workflow to a person or a role. */
export interface Ask {
  readonly id: string
  readonly title: string
  /** `role:<name>`, or the id of a person. */
  readonly of: string
  /** What to answer besides, in the notation of types. */
  readonly fields: JsonObject | null
  readonly workflow: string
  readonly askedAt: string
  readonly expiresAt: string | null
}

/** The questions that wait for the person who is signed in. */
export function useAsks(limit: number): Data<Page<Ask>> {
  return useData<Page<Ask>>(['asks', limit], (signal) => request('GET', '/asks', { query: { limit }, signal }), {
    types: ['*'],
  })
}
