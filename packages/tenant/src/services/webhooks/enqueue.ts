import type { Engine } from '../../engine/engine.ts'
import type { LogRow } from '../../store/log.ts'
import { enqueueDelivery } from '../../store/outbox.ts'
import { subscriptions } from './subscription.ts'
import { currentTrace } from './trace.ts'

/** Books an event for every webhook that wants it, in the event's own transaction: a crash cannot lose it. */
export function enqueueDeliveries(tenant: Engine): (event: LogRow) => void {
  return (event) => {
    const all = subscriptions(tenant)
    if (all.size === 0) return
    let booked = false
    for (const subscription of all.values()) {
      // One that is still being told the past comes to this event by itself.
      if (subscription.position !== null || !subscription.wants(event)) continue
      enqueueDelivery(tenant.sql, subscription.id, event.seq, event.at, currentTrace(tenant))
      booked = true
    }
    if (booked) tenant.ports.alarm.wakeAt(tenant.ports.clock.now())
  }
}
