/** An array of results with the total and the cursor of the next page. */
export type Page<T> = readonly T[] & {
  /** The number of matches of the filter; undefined if it was not requested. */
  readonly total: number | undefined
  readonly hasMore: boolean
  /** The cursor of the next page; null if there is none. */
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
  // Not enumerable, so that a page compares, prints and copies like an array.
  for (const [name, fact] of Object.entries(value)) Object.defineProperty(results, name, { value: fact })
  return results as unknown as Page<T>
}
