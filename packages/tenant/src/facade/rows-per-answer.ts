import { isPlainObject, Problem } from '@tildebase/nouns'
import type { Grant } from '../grant/grant.ts'
import type { Page, Query } from '../query/answer/find.ts'
import { DEFAULT_LIMIT } from '../query/parameters/limits.ts'

/** The query with no more results than an agent may get at once. */
export function limited({ limits }: Grant, query: Query): Query {
  const most = limits?.rowsPerAnswer
  return most === undefined ? query : { ...query, limit: Math.min(query.limit ?? DEFAULT_LIMIT, most) }
}

/** The page, unless it has more entities in it than an agent may get at once. */
export function demandFewRows({ limits }: Grant, page: Page): Page {
  const most = limits?.rowsPerAnswer
  if (most === undefined) return page
  const rows = page.results.reduce((sum, { extra }) => sum + 1 + embeddedIn(extra), 0)
  if (rows <= most) return page
  throw new Problem('over_budget', `This agent may get ${most} entities per answer, embedded ones included.`, {
    limit: 'rows',
  })
}

function embeddedIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + embeddedIn(one), 0)
  if (!isPlainObject(value)) return 0
  const inside = Object.values(value).reduce<number>((sum, one) => sum + embeddedIn(one), 0)
  return inside + ('$id' in value ? 1 : 0)
}
