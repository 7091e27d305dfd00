const MOST_MONTHS = 36

/** A moment to come back to: the end of a month has no name of its own. */
interface Mark {
  readonly at: string
  readonly name: string | null
}

/** The ends of the months between two times; those of a long past are the newest ones. */
export function monthEnds(start: number, end: number): Mark[] {
  const last = new Date(end)
  const months = Array.from({ length: MOST_MONTHS }, (_, n) => monthEnd(last.getFullYear(), last.getMonth() - n - 1))
  const within = months.filter((day) => day.getTime() >= start)
  return within.reverse().map((day) => ({ at: day.toISOString(), name: null }))
}

/** The last moment of a month, in the zone of the browser. */
export function monthEnd(year: number, month: number): Date {
  return new Date(new Date(year, month + 1, 1).getTime() - 1)
}
