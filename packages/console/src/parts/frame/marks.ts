import { setting } from '../../service/settings.ts'

/** A moment to come back to: the end of a month has no name of its own. */
interface Mark {
  readonly at: string
  readonly name: string | null
}

type NamedMark = { readonly at: string; readonly name: string }

const MOST_MONTHS = 36

/** The moments that people named for everyone in the tenant, such as releases and imports. */
export function marks(): readonly NamedMark[] {
  const kept = setting('marks')
  const list = Array.isArray(kept) ? (kept as unknown as { at?: unknown; name?: unknown }[]) : []
  return list.flatMap(({ at, name }) => (typeof at === 'string' && typeof name === 'string' ? [{ at, name }] : []))
}

/** The ends of the months between two times. */
export function monthEnds(start: number, end: number): Mark[] {
  const first = new Date(start)
  const months = Array.from({ length: MOST_MONTHS }, (_, n) => monthEnd(first.getFullYear(), first.getMonth() + n))
  return months.filter((day) => day.getTime() < end).map((day) => ({ at: day.toISOString(), name: null }))
}

/** The last moment of a month, in the zone of the browser. */
export function monthEnd(year: number, month: number): Date {
  return new Date(new Date(year, month + 1, 1).getTime() - 1)
}
