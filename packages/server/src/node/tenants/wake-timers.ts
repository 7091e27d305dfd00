/** A timer holds 24 days at most; a day is soon enough to look again. */
const LONGEST = 86_400_000

type Entry = readonly [at: number, name: string]

/** When each of many is to be woken: the earliest time asked for counts. One timer for all of them, none when idle. */
export class WakeTimers {
  readonly #wake: (name: string) => void
  readonly #clock: () => number
  readonly #times = new Map<string, number>()
  /** A heap by time. An entry whose time is not that of its name any more is passed over when it comes up. */
  readonly #heap: Entry[] = []
  #timer: NodeJS.Timeout | null = null
  #timerAt = Number.POSITIVE_INFINITY

  constructor(wake: (name: string) => void, clock: () => number = Date.now) {
    this.#wake = wake
    this.#clock = clock
  }

  /** Asks for a name to be woken at a time, unless that is to happen earlier anyway. */
  book(name: string, at: number): void {
    const known = this.#times.get(name)
    if (known !== undefined && known <= at) return
    this.#times.set(name, at)
    this.#rise([at, name])
    if (at < this.#timerAt) this.#setTimer()
  }

  /** Leaves a name asleep. */
  cancel(name: string): void {
    if (this.#times.delete(name) && this.#times.size === 0) this.#setTimer()
  }

  #ring(): void {
    const now = this.#clock()
    const due: string[] = []
    for (let next = this.#next(); next !== undefined && next[0] <= now; next = this.#next()) {
      this.#times.delete(next[1])
      due.push(next[1])
    }
    this.#setTimer()
    for (const name of due) this.#wake(name)
  }

  #setTimer(): void {
    const next = this.#next()
    this.#clear()
    if (next === undefined) return
    this.#timerAt = next[0]
    this.#timer = setTimeout(() => this.#ring(), Math.min(Math.max(next[0] - this.#clock(), 0), LONGEST)).unref()
  }

  #clear(): void {
    clearTimeout(this.#timer ?? undefined)
    this.#timer = null
    this.#timerAt = Number.POSITIVE_INFINITY
  }

  /** The earliest entry that still counts. */
  #next(): Entry | undefined {
    while (this.#heap.length > 0) {
      const [at, name] = this.#heap[0]!
      if (this.#times.get(name) === at) return this.#heap[0]
      this.#sink(this.#heap.pop()!)
    }
    return undefined
  }

  /** Puts a new entry where it belongs, from the bottom. */
  #rise(entry: Entry): void {
    let i = this.#heap.push(entry) - 1
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (this.#heap[parent]![0] <= entry[0]) break
      this.#heap[i] = this.#heap[parent]!
      i = parent
    }
    this.#heap[i] = entry
  }

  /** Puts the last entry in the place of the first, and lets it sink to where it belongs. */
  #sink(entry: Entry): void {
    const heap = this.#heap
    if (heap.length === 0) return
    let i = 0
    for (;;) {
      let child = 2 * i + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && heap[child + 1]![0] < heap[child]![0]) child++
      if (heap[child]![0] >= entry[0]) break
      heap[i] = heap[child]!
      i = child
    }
    heap[i] = entry
  }
}
