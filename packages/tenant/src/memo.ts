const MOST = 2_000

/** Answers kept until a type they depend on changes. One mechanism for keys, subscriptions, totals and schemas. */
export class Memo {
  readonly #stamps = new Map<string, number>()
  readonly #answers = new Map<string, { value: unknown; types: readonly string[]; stamps: readonly number[] }>()
  #clock = 0

  /** The kept answer, or a new one from `compute`. */
  get<T>(types: readonly string[], key: string, compute: () => T): T {
    const known = this.peek<T>(key)
    if (known !== undefined) return known
    const stamps = types.map((type) => this.#stamp(type))
    const value = compute()
    if (this.#answers.size >= MOST) this.#answers.clear()
    this.#answers.set(key, { value, types, stamps })
    return value
  }

  /** The kept answer, or undefined. */
  peek<T>(key: string): T | undefined {
    const kept = this.#answers.get(key)
    return kept?.types.every((type, i) => this.#stamp(type) === kept.stamps[i]) ? (kept.value as T) : undefined
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
