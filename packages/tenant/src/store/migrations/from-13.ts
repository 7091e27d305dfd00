import { EVENT_SUBSCRIPTIONS } from '../outgoing/event-subscriptions.ts'

/** From layout 13 to 14: agents subscribe to events. */
export const FROM_13: readonly string[] = EVENT_SUBSCRIPTIONS
