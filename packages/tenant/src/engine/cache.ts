const MOST = 2_000

/** Answers kept until a type they depend on changes. One mechanism for keys, subscriptions, totals and schemas. */
export class Cache {
  readonly #stamps = new Map<string, number>()
  readonly #answers = new Map<string, { value: unknown; types: readonly string[]; stamps: readonly number[] }>()
  #clock = 0

  /** The kept answer, or a new one from `compute`; undefined is not kept. */
  get<T>(types: readonly string[], key: string, compute: () => T): T {
    const known = this.peek<T>(key)
    if (known !== undefined) return known
    // The stamps of before: what changes while this is computed makes the answer old.
    const stamps = types.map((type) => this.#stamp(type))
    const value = compute()
    if (value === undefined) return value
    if (this.#answers.size >= MOST) this.#answers.clear()
    this.#answers.set(key, { value, types, stamps })
    return value
  }

  /** Keeps an answer until a type that it depends on changes. */
  set<T>(types: readonly string[], key: string, value: T): T {
    if (this.#answers.size >= MOST) this.#answers.clear()
    this.#answers.set(key, { value, types, stamps: types.map((type) => this.#stamp(type)) })
    return value
  }

  /** The kept answer, or undefined. */
  peek<T>(key: string): T | undefined {
    const kept = this.#answers.get(key)
    if (!kept) return undefined
    for (let i = 0; i < kept.types.length; i++) if (this.#stamp(kept.types[i]!) !== kept.stamps[i]) return undefined
    return kept.value as T
  }

  /** Drops the answers that depend on a type: it changed, or a change of it was undone. */
  forget(type: string): void {
    this.#stamps.set(type, ++this.#clock)
  }

  /** When the type last changed, as a number that only means something against another one. */
  #stamp(type: string): number {
    return this.#stamps.get(type) ?? 0
  }
}
