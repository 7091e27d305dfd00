import type { Engine } from '../../engine/engine.ts'
import { readLog } from '../../store/log/log.ts'
import { enqueueDelivery } from '../../store/outgoing/outbox.ts'
import { setPosition } from '../../store/outgoing/receivers.ts'
import type { Subscription } from './subscription.ts'

const PAGE = 500
const MOST_PAGES = 10

/** Books a stretch of the log for a webhook that asked for history. True when it has caught up, or has something to send. */
export function enqueueHistory(engine: Engine, subscription: Subscription): boolean {
  return engine.commit(() => {
    let position = subscription.position!
    let booked = 0
    for (let page = 0; page < MOST_PAGES && booked === 0 && position < engine.head.seq; page++) {
      const events = readLog(engine.sql, position, PAGE)
      for (const event of events) {
        if (subscription.show(event) === null) continue
        enqueueDelivery(engine.sql, subscription.id, event.seq, engine.ports.clock.now(), null)
        booked++
      }
      position = events.at(-1)!.seq
    }
    const caughtUp = position >= engine.head.seq
    setPosition(engine.sql, subscription.id, caughtUp ? null : position)
    engine.cache.forget('Webhook')
    return caughtUp || booked > 0
  })
}
