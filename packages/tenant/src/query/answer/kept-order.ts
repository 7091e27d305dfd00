import type { CursorPosition, Order } from '../plan/order.ts'
import { isLogged } from '../plan/source.ts'
import type { KeptOrder, ReadContext } from '../reader.ts'

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

/** Keeps the places that follow another in an order. */
export function keepOrder(
  reader: ReadContext,
  sorting: Sorting,
  place: CursorPosition | null,
  numbers: readonly number[],
  isWhole: boolean,
): void {
  const key = keyOf(reader, sorting)
  if (key === null) return
  reader.orders?.set(key, sorting.types, { after: place && JSON.stringify(place), numbers, isWhole })
}

/** Null for an order that an index has, and for records: those change with every type. */
function keyOf(reader: ReadContext, { asked, order, types }: Sorting): string | null {
  if (order.by === 'creation' || order.by === 'rank' || types.some((type) => isLogged(reader, type))) return null
  return `${asked} ${JSON.stringify(order.keys.map(({ path, descending }) => [path.text, descending]))}`
}
