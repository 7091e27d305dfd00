import type { Patch } from './machines/checkout.ts'

const CLUSTER = 'packages/server/src/cluster'

/** A broken version of the service, in which the test must find violations: otherwise it could not find them anywhere. */
interface Control {
  /** A part of the names of the faults that show it. */
  readonly faults: string
  readonly patches: readonly Patch[]
}

export const CONTROLS: Readonly<Record<string, Control>> = {
  /** Answers leave before the commit is in the log. */
  'early-answers': {
    faults: 'databases are lost',
    patches: [
      {
        file: `${CLUSTER}/protocol/owned-tenant.ts`,
        text: 'if (this.#held.length === 0 && this.#committed === this.head && this.#isTrusted()) return void release()',
        by: 'if (this.#now() >= 0) return void release()',
      },
    ],
  },
  /** An owner of an earlier epoch overwrites the log. */
  'no-fence': {
    faults: 'SIGSTOP of the owner',
    patches: [
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
  },
  /** A node continues answering reads after its lease has run out. */
  'stale-reads': {
    faults: 'everything but the clients',
    patches: [
      {
        file: `${CLUSTER}/protocol/membership.ts`,
        text: 'if (now >= this.#trustedUntil) return false',
        by: 'if (now >= 0) return true',
      },
    ],
  },
}
