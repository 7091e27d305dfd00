/** An event, as far as the order of an entity's events is concerned. */
interface EntityEvent {
  readonly seq: number
  readonly entity: string
  readonly verb: string
  readonly version: number
}

/** The newest event of each entity, for a walk through the whole log: numbers in arrays, since there may be millions. */
export class NewestEvents {
  readonly #places = new Map<string, number>()
  #versions = new Uint32Array(1_024)
  #seqs = new Float64Array(1_024)

  /** Takes the next event of the log. False if it is not the next version of its entity. */
  add({ seq, entity, verb, version }: EntityEvent): boolean {
    const known = this.#places.get(entity)
    const place = known ?? this.#begin(entity)
    // A conflict is kept in the log and leaves the version as it is.
    const isNext = version === this.#versions[place]! + (verb === 'conflict' ? 0 : 1)
    this.#versions[place] = version
    if (verb !== 'conflict') this.#seqs[place] = seq
    return isNext
  }

  /** The seq of the newest event of an entity, which is then no longer counted; null if the log has none. */
  take(entity: string): number | null {
    const place = this.#places.get(entity)
    if (place === undefined) return null
    this.#places.delete(entity)
    return this.#seqs[place]!
  }

  /** The entities that were not taken, with the seq of their newest event. */
  *left(): Generator<[entity: string, seq: number]> {
    for (const [entity, place] of this.#places) if (this.#seqs[place]! > 0) yield [entity, this.#seqs[place]!]
  }

  #begin(entity: string): number {
    const place = this.#places.size
    if (place === this.#versions.length) {
      this.#versions = grown(this.#versions, new Uint32Array(place * 2))
      this.#seqs = grown(this.#seqs, new Float64Array(place * 2))
    }
    this.#places.set(entity, place)
    return place
  }
}

function grown<T extends Uint32Array | Float64Array>(from: T, to: T): T {
  to.set(from)
  return to
}
