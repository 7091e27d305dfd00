import type { Sql } from '../../ports.ts'

/** Bytes that are read into memory at once, about: a single value may have a megabyte. */
const PART_BYTES = 4_194_304

/** The bytes of an event. SQLite knows the length of a value without reading it. */
export const EVENT_SIZE =
  'ifnull(octet_length(data), 0) + ifnull(octet_length(previous), 0) + ifnull(octet_length(args), 0)'

/** How many of these sizes make a part. One alone may be larger. */
export function fitting(sizes: readonly number[]): number {
  let bytes = 0
  const end = sizes.findIndex((size, i) => {
    bytes += size
    return i > 0 && bytes > PART_BYTES
  })
  return end === -1 ? sizes.length : end
}

/** How many of the next events make a part, of at most `limit`. */
export function fittingEvents(sql: Sql, after: number, limit: number): number {
  if (limit <= 1) return limit
  const sizes = sql.rows(`SELECT ${EVENT_SIZE} FROM log WHERE seq > ? ORDER BY seq LIMIT +?`, after, limit)
  return fitting(sizes.map(([size]) => size))
}
