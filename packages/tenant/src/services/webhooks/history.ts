import type { Engine } from '../../engine/engine.ts'
import { readLog } from '../../store/log.ts'
import { enqueueDelivery } from '../../store/outbox.ts'
import { setPosition } from '../../store/receivers.ts'
import type { Subscription } from './subscription.ts'

const PAGE = 500
const MOST_PAGES = 10

/** Books a stretch of the log for a webhook that asked for history. True when it has caught up, or has something to send. */
export function enqueueHistory(tenant: Engine, subscription: Subscription): boolean {
  return tenant.transaction(() => {
    let position = subscription.position!
    let booked = 0
    for (let page = 0; page < MOST_PAGES && booked === 0 && position < tenant.head.seq; page++) {
      const events = readLog(tenant.sql, position, PAGE)
      for (const event of events) {
        if (!subscription.wants(event)) continue
        enqueueDelivery(tenant.sql, subscription.id, event.seq, tenant.ports.clock.now(), null)
        booked++
      }
      position = events.at(-1)!.seq
    }
    const caughtUp = position >= tenant.head.seq
    setPosition(tenant.sql, subscription.id, caughtUp ? null : position)
    tenant.cache.forget('Webhook')
    return caughtUp || booked > 0
  })
}
