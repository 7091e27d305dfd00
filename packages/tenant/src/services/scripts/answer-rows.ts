import { isPlainObject, type Json } from '@tildebase/nouns'
import { overBudget } from '../../budget.ts'
import type { Grant } from '../../grant/grant.ts'

/**
 * Counts the entities that code or a batch is given. All of them can leave in one answer, in any form, so all of them
 * count for the limit of an agent.
 */
export class AnswerRows {
  readonly #most: number | undefined
  #count = 0

  constructor({ limits }: Grant) {
    this.#most = limits?.rowsPerAnswer
  }

  /** The answer, unless more entities have now been given than one answer may have. */
  counted(answer: Json): Json {
    if (this.#most === undefined) return answer
    this.#count += rowsIn(answer)
    if (this.#count <= this.#most) return answer
    throw overBudget('rows', `${this.#most} entities per answer, which is the limit of this agent`)
  }
}

/** Entities, versions, events and groups: every object in a list, and every entity inside of another. */
function rowsIn(value: Json): number {
  if (Array.isArray(value)) {
    return value.reduce<number>((sum, one) => sum + Math.max(isPlainObject(one) ? 1 : 0, rowsIn(one as Json)), 0)
  }
  if (!isPlainObject(value)) return 0
  const inside = Object.values(value).reduce<number>((sum, one) => sum + rowsIn(one as Json), 0)
  return inside + ('$id' in value ? 1 : 0)
}
