import type { CursorPosition, Order } from './order.ts'
import type { KeptOrder, ReadContext } from './reader.ts'
import { isLogged } from './source.ts'

/** A list grows by the pages that are read, up to this. */
const MOST = 2_000

/** What a kept order belongs to. */
export interface Sorting {
  readonly asked: string
  readonly order: Order
  /** The types that it depends on. */
  readonly types: readonly string[]
}

/** The order that was found for a question before, as long as it holds. */
export function keptOrder(reader: ReadContext, sorting: Sorting): KeptOrder | undefined {
  const key = keyOf(reader, sorting)
  return key === null ? undefined : reader.orders?.get(key)
}

/** Keeps the places that follow another in an order; those that follow the last one of a list are added to it. */
export function keepOrder(
  reader: ReadContext,
  sorting: Sorting,
  place: CursorPosition | null,
  numbers: readonly number[],
  isWhole: boolean,
): void {
  const key = keyOf(reader, sorting)
  if (key === null) return
  const known = reader.orders?.get(key)
  const follows = place !== null && known?.numbers.at(-1) === place[0] && known.numbers.length + numbers.length <= MOST
  const kept = follows
    ? { after: known.after, numbers: [...known.numbers, ...numbers], isWhole }
    : { after: place && JSON.stringify(place), numbers, isWhole }
  reader.orders?.set(key, sorting.types, kept)
}

/** Null for an order that an index has, and for records: those change with every type. */
function keyOf(reader: ReadContext, { asked, order, types }: Sorting): string | null {
  if (order.by === 'creation' || order.by === 'rank' || types.some((type) => isLogged(reader, type))) return null
  return `${asked} ${JSON.stringify(order.keys.map(({ path, descending }) => [path.text, descending]))}`
}
