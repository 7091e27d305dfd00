import type { LogRow } from '../../store/log.ts'
import { enqueueDelivery } from '../../store/outbox.ts'
import type { Write } from '../../write/write.ts'
import { subscriptions } from './subscription.ts'

/** Queues an event for every webhook that wants it, in the event's own transaction: a crash cannot lose it. */
export function enqueueDeliveries(write: Write, event: LogRow): void {
  const all = subscriptions(write.engine)
  if (all.size === 0) return
  let isQueued = false
  for (const subscription of all.values()) {
    // One that is still sent the past comes to this event by itself.
    if (subscription.position !== null || subscription.show(event) === null) continue
    enqueueDelivery(write.sql, subscription.id, event.seq, event.at, write.context.trace)
    isQueued = true
  }
  if (isQueued) write.wakeAt(write.context.clock.now())
}
