/** What is in a bag knows its place there; -1 when it is in none. */
export interface Placed {
  place: number
}

/**
 * Things in no order that come and go with requests. Not a set: that makes a new table as it grows and shrinks, and one that
 * has become old keeps all later tables in memory, with the requests in them, until all garbage is collected.
 */
export class Bag<T extends Placed> implements Iterable<T> {
  readonly #all: T[] = []

  get size(): number {
    return this.#all.length
  }

  add(one: T): void {
    one.place = this.#all.push(one) - 1
  }

  /** Takes it out; false if it is not there. */
  remove(one: T): boolean {
    if (one.place === -1) return false
    const last = this.#all.pop()!
    if (last !== one) {
      this.#all[one.place] = last
      last.place = one.place
    }
    one.place = -1
    return true
  }

  /** All that is there when it is asked: they may be taken out meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.#all][Symbol.iterator]()
  }
}
