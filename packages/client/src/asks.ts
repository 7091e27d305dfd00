import type { Json, JsonObject } from '@tildebase/nouns'
import type { Wire } from './transport/wire.ts'

/** A question that a workflow asks a person or a role. */
export interface Ask {
  readonly id: string
  /** Null where the key or the agent may not read what the workflow reads. */
  readonly title: string | null
  /** `role:<name>`, or the id of a User. */
  readonly of: string
  /** What to answer in addition, in the noun notation. */
  readonly fields: JsonObject | null
  readonly status: string
  readonly workflow: string
  readonly run: string | null
  readonly askedAt: string
  readonly expiresAt: string | null
  readonly answer: JsonObject | null
  readonly answeredBy: string | null
  readonly answeredAt: string | null
}

export interface AskPage {
  readonly results: readonly Ask[]
  readonly total: number
  readonly hasMore: boolean
  readonly cursor: string | null
}

/** Questions that wait for people. */
export interface Asks {
  /** Those that wait for you or for your role, the oldest first. */
  list(options?: { readonly limit?: number; readonly cursor?: string }): Promise<AskPage>
  get(id: string): Promise<Ask>
  /** Answers for the person who signed in. A key needs the scope `approve:own`. */
  answer(id: string, answer: 'Approved' | 'Rejected', fields?: { readonly [field: string]: Json }): Promise<Ask>
}

export function asksOf(wire: Wire, root: string): Asks {
  const at = (id: string) => `${root}/asks/${encodeURIComponent(id)}`
  return {
    list: (query) => wire.json(`${root}/asks`, { query: { ...query } }),
    get: (id) => wire.json(at(id)),
    answer: (id, answer, fields) => wire.json(`${at(id)}/answer`, { method: 'POST', body: { answer, fields } }),
  }
}
