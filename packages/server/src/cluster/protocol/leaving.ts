import { inParallel } from './in-parallel.ts'
import type { Membership } from './membership.ts'
import type { Ownership } from './ownership.ts'
import type { NodeRow } from './replicated-log.ts'
import type { Time } from './time.ts'

export interface LeavingOptions {
  readonly membership: Membership
  readonly ownership: Ownership
  readonly time: Time
  /** The node that a tenant of this one goes to, of those that are given. */
  readonly placeOf: (slug: string, nodes: readonly NodeRow[]) => NodeRow | undefined
  /** Gives a tenant to a session, or releases it. */
  readonly give: (slug: string, to: string | null) => Promise<unknown>
}

const PAUSE = 100

/**
 * Empties a node that is about to stop, which claims nothing any more. A tenant that no other node can open stays, and
 * is answered here, until such a node has joined or the time is over. Returns whether a node was found for every one.
 */
export async function giveAllAway(options: LeavingOptions, until: number): Promise<boolean> {
  const { membership, ownership, time, placeOf, give } = options
  ownership.claimNothing()
  for (;;) {
    const others = membership.nodes.filter(({ session, draining }) => session !== membership.session && !draining)
    await inParallel(ownership.open, async ({ slug }) => {
      const to = placeOf(slug, others)
      if (to) await give(slug, to.session)
    })
    if (ownership.isEmpty) return true
    if (time.elapsed() >= until) break
    await time.sleep(PAUSE)
  }
  await inParallel(ownership.open, ({ slug }) => give(slug, null))
  return false
}
