import type { Engine } from '../../engine/engine.ts'
import { type Grant, OPERATOR } from '../../grant/grant.ts'
import { type EventSubscription, eventSubscriptions } from '../../store/outgoing/event-subscriptions.ts'
import { consentGrant } from '../identity/people.ts'
import { keyGrant } from '../keys.ts'

/** What decides which events go to the subscriptions of agents: the subscriptions themselves, and the rights of their holders. */
export const DEPENDS_ON = ['EventSubscription', 'ApiKey', 'User', 'AccessRole', 'Schema', 'Identity'] as const

/** All subscriptions of agents, kept until one of them changes. */
export function allEventSubscriptions(engine: Engine): readonly EventSubscription[] {
  return engine.cache.get(['EventSubscription'], 'event subscriptions', () =>
    engine.head.seq === 0 ? [] : eventSubscriptions(engine.sql),
  )
}

/** The rights that the holder of a subscription has now; null when its key or its consent has ended. */
export function grantOfHolder(
  engine: Engine,
  { actor, consent }: Pick<EventSubscription, 'actor' | 'consent'>,
): Grant | null {
  if (actor === OPERATOR.actor) return OPERATOR
  if (consent !== null) return consentGrant(engine, consent)
  return keyGrant(engine, actor)
}
