import type { Tenants } from '../../doors/gateway.ts'
import { LoopTurns } from './loop-turns.ts'

/** Tenants of the gateway's own thread: where many requests come at once, they are served tenant by tenant. */
export function tenantsInTurns(tenants: Tenants): Tenants {
  const turns = new LoopTurns()
  return {
    answer: (slug, ...rest) =>
      turns.call(
        () => slug,
        () => tenants.answer(slug, ...rest),
      ),
    verify: (slug, secret) => tenants.verify(slug, secret),
  }
}
