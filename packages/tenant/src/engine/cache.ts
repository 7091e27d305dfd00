import { BoundedMap } from '@tildebase/nouns/bounded-map'

const MOST = 2_000

/** A type, and how often it has changed. */
interface Stamp {
  changes: number
}

interface Answer {
  readonly value: unknown
  readonly stamps: readonly Stamp[]
  /** The changes of each type when the value was computed. */
  readonly changes: readonly number[]
}

/** Answers kept until a type they depend on changes. One mechanism for keys, subscriptions, totals and schemas. */
export class Cache {
  readonly #stamps = new Map<string, Stamp>()
  readonly #answers = new BoundedMap<string, Answer>(MOST)

  /** The kept answer, or a new one from `compute`; undefined is not kept. */
  get<T>(types: readonly string[], key: string, compute: () => T): T {
    const known = this.peek<T>(key)
    if (known !== undefined) return known
    const answer = this.#answer(types, compute)
    if (answer.value !== undefined) this.#keep(key, answer)
    return answer.value as T
  }

  /** Keeps an answer until a type that it depends on changes. */
  set<T>(types: readonly string[], key: string, value: T): T {
    this.#keep(
      key,
      this.#answer(types, () => value),
    )
    return value
  }

  /** The kept answer, or undefined. */
  peek<T>(key: string): T | undefined {
    const kept = this.#answers.get(key)
    return kept !== undefined && isFresh(kept) ? (kept.value as T) : undefined
  }

  /** A function that keeps its one answer: for what every request needs, so often that finding it would cost. */
  memo<T>(types: readonly string[], compute: () => T): () => T {
    let kept: Answer | undefined
    return () => {
      if (kept === undefined || !isFresh(kept)) kept = this.#answer(types, compute)
      return kept.value as T
    }
  }

  /** Drops the answers that depend on a type: it changed, or a change of it was undone. */
  forget(type: string): void {
    this.#stamp(type).changes++
  }

  #answer(types: readonly string[], compute: () => unknown): Answer {
    const stamps = types.map((type) => this.#stamp(type))
    // Counted before: what changes while this is computed makes the answer old.
    const changes = stamps.map((stamp) => stamp.changes)
    return { value: compute(), stamps, changes }
  }

  #keep(key: string, answer: Answer): void {
    this.#answers.set(key, answer)
  }

  #stamp(type: string): Stamp {
    const known = this.#stamps.get(type)
    if (known) return known
    const stamp = { changes: 0 }
    this.#stamps.set(type, stamp)
    return stamp
  }
}

function isFresh({ stamps, changes }: Answer): boolean {
  for (let i = 0; i < stamps.length; i++) if (stamps[i]!.changes !== changes[i]) return false
  return true
}
