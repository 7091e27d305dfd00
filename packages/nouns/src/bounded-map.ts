/** A map of at most so many entries, or so much weight of them: a new entry evicts the oldest ones. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #most: number
  readonly #weigh: (value: Value) => number
  #weight = 0

  constructor(most: number, weigh: (value: Value) => number = () => 1) {
    super()
    this.#most = most
    this.#weigh = weigh
  }

  /** Sets an entry, which becomes the newest one. */
  override set(key: Key, value: Value): this {
    this.delete(key)
    super.set(key, value)
    this.#weight += this.#weigh(value)
    for (const oldest of this.keys()) {
      if (this.#weight <= this.#most) break
      this.delete(oldest)
    }
    return this
  }

  override delete(key: Key): boolean {
    const value = this.get(key)
    if (value === undefined && !this.has(key)) return false
    this.#weight -= this.#weigh(value as Value)
    return super.delete(key)
  }

  override clear(): void {
    super.clear()
    this.#weight = 0
  }
}
