import { isoOf, type JsonObject } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import type { Grant } from '../grant/grant.ts'
import { allEventSubscriptions } from '../services/event-subscriptions/holder.ts'
import { subscribe, unsubscribe } from '../services/event-subscriptions/subscribe.ts'
import { type EventType, eventTypes } from '../services/event-subscriptions/types.ts'

/** The subscriptions of agents to events. Each belongs to a key or a token, has its rights, and ends with it. */
export class TenantSubscriptions {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** The event types that a grant may read. */
  types(grant: Grant): EventType[] {
    return eventTypes(this.#engine, grant)
  }

  /** Subscribes, or renews: `events/subscribe` of MCP. */
  subscribe(grant: Grant, params: unknown): Promise<JsonObject> {
    return subscribe(this.#engine, grant, params)
  }

  /** Ends a subscription: `events/unsubscribe` of MCP. */
  unsubscribe(grant: Grant, params: unknown): void {
    unsubscribe(this.#engine, grant, params)
  }

  /** All subscriptions, without their secrets. The caller may see them: no rights are applied here. */
  get all(): JsonObject[] {
    return allEventSubscriptions(this.#engine).map(
      ({ id, actor, consent, name, url, createdAt, expiresAt, ...one }) => ({
        id,
        actor,
        ...(consent !== null && { token: consent }),
        name,
        arguments: JSON.parse(one.arguments) as JsonObject,
        url,
        createdAt: isoOf(createdAt),
        refreshBefore: isoOf(expiresAt),
      }),
    )
  }
}
