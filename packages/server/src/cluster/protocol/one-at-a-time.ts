/** Lets work on one tenant begin when the work before it has ended. */
export class OneAtATime {
  readonly #last = new Map<string, Promise<void>>()

  run<T>(slug: string, work: () => T | Promise<T>): Promise<T> {
    const done = (this.#last.get(slug) ?? Promise.resolve()).then(work)
    const settled = done.then(
      () => {},
      () => {},
    )
    this.#last.set(slug, settled)
    void settled.then(() => this.#last.get(slug) === settled && this.#last.delete(slug))
    return done
  }
}
