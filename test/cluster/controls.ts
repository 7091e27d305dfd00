import type { Patch } from './machines/checkout.ts'

const CLUSTER = 'packages/server/src/cluster'

/** Broken versions of the service. The test must find violations in each, or it could not find them anywhere. */
export const CONTROLS: Readonly<Record<string, readonly Patch[]>> = {
  /** Answers leave before the commit is in the log. */
  'early-answers': [
    {
      file: `${CLUSTER}/protocol/owned-tenant.ts`,
      text: 'if (this.#held.length === 0 && this.#committed === this.head && this.#isTrusted()) return void release()',
      by: 'if (this.#now() >= 0) return void release()',
    },
  ],
  /** An owner of an earlier epoch overwrites the log. */
  'no-fence': [
    {
      file: `${CLUSTER}/postgres/statements.ts`,
      text: 'WHERE t.slug = a.slug AND t.epoch = a.epoch AND t.head = a.head',
      by: 'WHERE t.slug = a.slug',
    },
    {
      file: `${CLUSTER}/postgres/statements.ts`,
      text: 'JOIN moved USING (slug))',
      by: 'JOIN moved USING (slug) ON CONFLICT (slug, n) DO UPDATE SET epoch = excluded.epoch, changes = excluded.changes)',
    },
  ],
  /** A node goes on answering reads after its lease has run out. */
  'stale-reads': [
    {
      file: `${CLUSTER}/protocol/membership.ts`,
      text: 'if (now >= this.#trustedUntil) return false',
      by: 'if (now >= 0) return true',
    },
  ],
}
