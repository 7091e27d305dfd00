/** What waits, lane by lane. The lanes take turns, and each keeps its order. */
export class Lanes<T> {
  readonly #lanes = new Map<string, T[]>()

  get isEmpty(): boolean {
    return this.#lanes.size === 0
  }

  add(lane: string, item: T): void {
    const others = this.#lanes.get(lane)
    if (others) others.push(item)
    else this.#lanes.set(lane, [item])
  }

  /** The first of the lane whose turn is longest ago. Undefined when nothing waits. */
  next(): T | undefined {
    for (const [lane, items] of this.#lanes) {
      this.#lanes.delete(lane)
      const first = items.shift()
      if (items.length > 0) this.#lanes.set(lane, items)
      return first
    }
    return undefined
  }
}
