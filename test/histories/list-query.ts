/** An entity as answers and events show it, without the address of the service. */
export type Shown = { readonly $id: string; readonly $version: number } & { readonly [field: string]: unknown }

/** A list that a client asks for: several conditions, a sort, and a page. */
export interface ListQuery {
  readonly type: string
  readonly shelf: string | null
  readonly weight: { readonly $gte: number; readonly $lt: number }
  /** A condition on the computed field of the related shelf. */
  readonly least: number | null
  readonly sort: readonly { readonly field: string; readonly isDescending: boolean }[]
  readonly limit: number
  /** The last entity of the page before, as that page showed it. */
  readonly after: Shown | null
}

/** A page as the service answers it. */
export interface Page {
  readonly results: readonly Shown[]
  readonly total: number
  readonly hasMore: boolean
}

/** A state of the tenant, to look things up in. */
export interface State {
  /** The entities of a type that exist, in the order of their creation. */
  all(type: string): readonly Shown[]
  get(id: string): Shown | null
  /** The number of the event that created an entity. */
  ordinal(id: string): number
}

/** The parameters of the request. */
export function parametersOf({ shelf, weight, least, sort, limit }: ListQuery): Record<string, string> {
  const filter = {
    weight,
    ...(shelf !== null && { shelf }),
    ...(least !== null && { 'shelf.count': { $gte: least } }),
  }
  const keys = sort.map(({ field, isDescending }) => `${isDescending ? '-' : ''}${field}`)
  return { filter: JSON.stringify(filter), sort: keys.join(','), limit: String(limit) }
}

/** The same list by a loop over all entities: written without a look at the service's own code. */
export function pageOf(query: ListQuery, state: State): Page {
  const matching = state.all(query.type).filter((entity) => isMatch(query, entity, state))
  const order = (a: Shown, b: Shown) => compare(query, state, a, b)
  const { after } = query
  const rest = (after === null ? matching : matching.filter((one) => order(after, one) < 0)).toSorted(order)
  return {
    results: rest.slice(0, query.limit),
    total: matching.length,
    hasMore: rest.length > query.limit,
  }
}

function isMatch({ shelf, weight, least }: ListQuery, entity: Shown, state: State): boolean {
  const own = entity.weight as number
  if (own < weight.$gte || own >= weight.$lt) return false
  if (shelf !== null && entity.shelf !== shelf) return false
  if (least === null) return true
  const count = state.get(String(entity.shelf))?.count
  return typeof count === 'number' && count >= least
}

function compare({ sort }: ListQuery, state: State, a: Shown, b: Shown): number {
  for (const { field, isDescending } of sort) {
    const [left, right] = [a[field] as string | number, b[field] as string | number]
    if (left !== right) return left < right === isDescending ? 1 : -1
  }
  const order = state.ordinal(a.$id) - state.ordinal(b.$id)
  return sort[0]!.isDescending ? -order : order
}
