import { Problem } from '@tildebase/nouns'
import { unauthorized } from '../app.ts'
import type { Tenants } from '../gateway.ts'

/** The slugs that a restore or a fork is about to fill. Nothing else creates a tenant there meanwhile. */
export class Restoring {
  readonly #slugs = new Set<string>()

  /** Keeps a slug for this work until it has ended. */
  async during<T>(slug: string, work: () => Promise<T>): Promise<T> {
    this.refuse(slug)
    this.#slugs.add(slug)
    try {
      return await work()
    } finally {
      this.#slugs.delete(slug)
    }
  }

  has(slug: string): boolean {
    return this.#slugs.has(slug)
  }

  /** Throws while the slug is kept. */
  refuse(slug: string): void {
    if (!this.has(slug)) return
    throw new Problem('restoring', `The tenant ${slug} is being restored. Try again when that has ended.`, {
      retryAfter: 5,
    })
  }

  /** The same tenants, without those that are being restored. */
  guard(tenants: Tenants): Tenants {
    return {
      answer: (slug, request, target, sender, requestId) => {
        // A sender without a key learns nothing.
        if (sender.kind === 'anonymous' && this.has(slug)) throw unauthorized()
        this.refuse(slug)
        return tenants.answer(slug, request, target, sender, requestId)
      },
      verify: async (slug, secret) => {
        this.refuse(slug)
        return tenants.verify(slug, secret)
      },
    }
  }
}
