import type { PastChange } from '../import/history.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Random numbers that are the same in every run. */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** A number from 0 up to, but not including, 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  whole(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1))
  }

  one<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)]!
  }

  is(probability: number): boolean {
    return this.next() < probability
  }
}

/** What happened in a company, entity by entity; `changes` has it in the order of time. */
export class Story {
  readonly chance: Chance
  /** The first and the last moment. */
  readonly begin: number
  readonly end: number
  readonly #changes: PastChange[] = []

  constructor(chance: Chance, begin: number, end: number) {
    this.chance = chance
    this.begin = begin
    this.end = end
  }

  /** Adds a change, unless it lies in the future. Returns whether it does not. */
  tell(at: number, actor: string, verb: string, type: string, source: string, data?: PastChange['data']): boolean {
    if (at > this.end) return false
    this.#changes.push({ type, source, verb, timestamp: iso(at), actor, ...(data && { data }) })
    return true
  }

  /** A minute of a working day, so many days after a time: Monday to Friday, 8 to 18 o'clock. */
  workday(after: number, days: number): number {
    const midnight = Math.floor((after + days * DAY) / DAY) * DAY
    const weekday = new Date(midnight).getUTCDay()
    const monday = weekday === 6 ? 2 : weekday === 0 ? 1 : 0
    const at =
      midnight + monday * DAY + 8 * HOUR + this.chance.whole(0, 599) * MINUTE + this.chance.whole(0, 59) * 1_000
    return Math.max(at, after + this.chance.whole(1, 40) * MINUTE)
  }

  /** Everything in the order of time. What happened at the same time keeps the order in which it was added. */
  get changes(): readonly PastChange[] {
    return this.#changes.toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0))
  }
}

export function iso(at: number): string {
  return new Date(at).toISOString()
}
