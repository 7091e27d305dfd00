import { isPlainObject, Problem } from '@tildebase/nouns'
import type { Grant } from '../grant/grant.ts'
import type { Groups } from '../query/answer/aggregate.ts'
import type { Query } from '../query/answer/find.ts'
import { DEFAULT_LIMIT } from '../query/parameters/limits.ts'
import type { Stored } from '../store/entities.ts'

/** The query with no more results than an agent may get at once. */
export function limited({ limits }: Grant, query: Query): Query {
  const most = limits?.rowsPerAnswer
  return most === undefined ? query : { ...query, limit: Math.min(query.limit ?? DEFAULT_LIMIT, most) }
}

/** Refuses more entities than an agent may get at once. */
export function demandFewRows({ limits }: Grant, entities: readonly Stored[]): void {
  const most = limits?.rowsPerAnswer
  if (most === undefined) return
  const rows = entities.reduce((sum, { extra }) => sum + 1 + embeddedIn(extra), 0)
  if (rows <= most) return
  throw new Problem('over_budget', `This agent may get ${most} entities per answer, embedded ones included.`, {
    limit: 'rows',
  })
}

/** Refuses more groups than an agent may get entities: a group of one shows its values. */
export function demandFewGroups({ limits }: Grant, groups: Groups): Groups {
  const most = limits?.rowsPerAnswer
  if (most === undefined || groups.results.length <= most) return groups
  throw new Problem('over_budget', `This agent may get ${most} groups per answer.`, { limit: 'rows' })
}

function embeddedIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + embeddedIn(one), 0)
  if (!isPlainObject(value)) return 0
  const inside = Object.values(value).reduce<number>((sum, one) => sum + embeddedIn(one), 0)
  return inside + ('$id' in value ? 1 : 0)
}
