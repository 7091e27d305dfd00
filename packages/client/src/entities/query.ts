/** A time: a Date, or a string that the service reads, such as an ISO 8601 time. */
export type Time = string | Date

/** What `asOf` takes: a time, or the `seq` of an event. */
export type AsOf = Time | number

/** What a list can be asked, as the collection takes it. */
export interface Asking {
  readonly sort?: string | { readonly [field: string]: 1 | -1 | undefined } | undefined
  readonly limit?: number | undefined
  readonly offset?: number | undefined
  readonly cursor?: string | null | undefined
  readonly include?: readonly string[] | undefined
  readonly fields?: readonly string[] | undefined
  readonly asOf?: AsOf | undefined
}

/** The parameters of a list. */
export function listQuery(filter: object | undefined, options: Asking = {}): { [name: string]: unknown } {
  const { sort, limit, offset, cursor } = options
  return {
    filter: filter && Object.keys(filter).length > 0 ? filter : undefined,
    sort: sortText(sort),
    limit,
    offset,
    cursor: cursor ?? undefined,
    ...getQuery(options),
  }
}

/** The parameters of reading one entity. */
export function getQuery({ include, fields, asOf }: Asking = {}): { [name: string]: unknown } {
  return { include: wordText(include), fields: wordText(fields), asOf: asOfText(asOf) }
}

export function timeText(time: Time): string {
  return typeof time === 'string' ? time : time.toISOString()
}

export function asOfText(asOf: AsOf): string
export function asOfText(asOf: AsOf | undefined): string | undefined
export function asOfText(asOf: AsOf | undefined): string | undefined {
  return typeof asOf === 'number' ? String(asOf) : asOf && timeText(asOf)
}

/** `{stage: 1, value: -1}` → `stage,-value`. */
function sortText(sort: Asking['sort']): string | undefined {
  if (sort === undefined || typeof sort === 'string') return sort
  const keys = Object.entries(sort).filter(([, direction]) => direction !== undefined)
  return keys.length === 0 ? undefined : keys.map(([field, way]) => (way === -1 ? `-${field}` : field)).join(',')
}

function wordText(words: readonly string[] | undefined): string | undefined {
  return words === undefined || words.length === 0 ? undefined : words.join(',')
}
