import type { LogRow } from '../../store/log/log.ts'
import { enqueueDelivery } from '../../store/outgoing/outbox.ts'
import type { Write } from '../../write/write.ts'
import { subscriptions } from './subscription.ts'

/** Queues an event for every subscribed webhook, in the event's own transaction, so that a crash cannot lose it. */
export function enqueueDeliveries(write: Write, event: LogRow): void {
  const all = subscriptions(write.engine)
  if (all.size === 0) return
  let isQueued = false
  for (const subscription of all.values()) {
    // A webhook that still receives past events will reach this event.
    if (subscription.position !== null || subscription.show(event) === null) continue
    enqueueDelivery(write.sql, subscription.id, event.seq, event.at, write.context.trace)
    isQueued = true
  }
  if (isQueued) write.wakeAt(write.context.clock.now())
}
