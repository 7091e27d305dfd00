import type { Gate } from '../node/threads/gate.ts'
import type { ClusterNumbers } from './operator/numbers.ts'
import type { Ownership } from './protocol/ownership.ts'

export interface OutputGateOptions {
  readonly ownership: Ownership
  readonly numbers: ClusterNumbers
  /** A tenant has one commit more, of so many bytes. */
  readonly committed: (slug: string, bytes: number) => void
  readonly opened: (slug: string) => void
  /** The thread of a tenant has ended. */
  readonly died: (slug: string) => void
}

/** Carries the commits of the host's threads to the log, and lets out what they send when the log has them. */
export class OutputGate implements Gate {
  readonly #options: OutputGateOptions
  /** Work on files that are not in the log yet, by the slug that they are meant for. */
  readonly #outside = new Map<string, number>()

  constructor(options: OutputGateOptions) {
    this.#options = options
  }

  committed(slug: string, n: number, changes: Uint8Array, erases: boolean): void {
    this.#options.ownership.committed(slug, n, changes, erases)
    this.#options.committed(slug, changes.length)
  }

  pass(slug: string, release: () => void, refuse: () => void): void {
    const { ownership, numbers } = this.#options
    const tenant = ownership.gateOf(slug)
    if (!tenant) return void (this.#outside.has(slug) ? release() : refuse())
    const begun = performance.now()
    tenant.pass(() => {
      numbers.passed(performance.now() - begun)
      release()
    }, refuse)
  }

  /** Lets out what is sent about a slug without a tenant while some work lasts: the log has nothing to wait for. */
  async during<T>(slug: string, work: () => Promise<T>): Promise<T> {
    this.#outside.set(slug, (this.#outside.get(slug) ?? 0) + 1)
    try {
      return await work()
    } finally {
      const left = this.#outside.get(slug)! - 1
      if (left > 0) this.#outside.set(slug, left)
      else this.#outside.delete(slug)
    }
  }

  opened(slug: string): void {
    this.#options.opened(slug)
  }

  died(slugs: readonly string[]): void {
    for (const slug of slugs) this.#options.died(slug)
  }
}
