/** An array of results that also knows how many there are in all and how to continue. */
export type Page<T> = readonly T[] & {
  /** How many there are under the filter; undefined when it was not asked for. */
  readonly total: number | undefined
  readonly hasMore: boolean
  /** Where the next page begins; null when there is none. */
  readonly cursor: string | null
}

/** The list envelope as an array. */
export function pageOf<T>(envelope: {
  results: T[]
  total?: number
  hasMore: boolean
  cursor: string | number | null
}): Page<T> {
  const { results, total, hasMore, cursor } = envelope
  const value = { total, hasMore, cursor: cursor === null ? null : String(cursor) }
  // Not enumerable: the page stays an array to whoever compares, prints or copies it.
  for (const [name, fact] of Object.entries(value)) Object.defineProperty(results, name, { value: fact })
  return results as unknown as Page<T>
}
