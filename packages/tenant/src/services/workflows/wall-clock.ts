const DAY = 86_400_000

/** The clock on the wall in a time zone. Its times are milliseconds, as if they were UTC. */
export class WallClock {
  readonly #format: Intl.DateTimeFormat

  constructor(zone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  }

  /** What the clock shows at an instant. */
  wallAt(instant: number): number {
    const parts = Object.fromEntries(
      this.#format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]),
    )
    const { year, month, day, hour, minute, second } = parts as { readonly [part: string]: number }
    const millis = ((instant % 1_000) + 1_000) % 1_000
    return Date.UTC(year!, month! - 1, day!, hour!, minute!, second!, millis)
  }

  /** The first instant at which the clock shows a time; the change of the clock if it skips that time. */
  timeOf(wall: number): number {
    const offsets = [wall - DAY, wall + DAY].map((near) => this.#offsetAt(near))
    const found = offsets.map((offset) => wall - offset).filter((instant) => this.wallAt(instant) === wall)
    if (found.length > 0) return Math.min(...found)
    let [low, high] = [wall - Math.max(...offsets), wall - Math.min(...offsets)]
    const before = this.#offsetAt(low)
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (this.#offsetAt(middle) === before) low = middle
      else high = middle
    }
    return high
  }

  #offsetAt(instant: number): number {
    return this.wallAt(instant) - instant
  }
}
