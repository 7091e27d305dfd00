import type { Engine } from '../../engine/engine.ts'
import { sliceOf } from '../../engine/turns.ts'
import { SharedElements } from '../../query/answer/elements.ts'
import { readLog } from '../../store/log/log.ts'
import { enqueueDelivery } from '../../store/outgoing/outbox.ts'
import { setPosition } from '../../store/outgoing/receivers.ts'
import type { Subscription } from './subscription.ts'

const PAGE = 100

/** Books a stretch of the log for a webhook that asked for history. True when it has caught up, or has something to send. */
export function enqueueHistory(engine: Engine, subscription: Subscription): boolean {
  return engine.commit(() => {
    let position = subscription.position!
    let booked = 0
    const isOver = sliceOf(engine.ports)
    do {
      for (const event of readLog(engine.sql, position, PAGE)) {
        position = event.seq
        if (subscription.show(event, new SharedElements().one()) !== null) {
          enqueueDelivery(engine.sql, subscription.id, event.seq, engine.ports.clock.now(), null)
          booked++
        }
        if (isOver()) break
      }
    } while (booked === 0 && position < engine.head.seq && !isOver())
    const caughtUp = position >= engine.head.seq
    setPosition(engine.sql, subscription.id, caughtUp ? null : position)
    engine.cache.forget('Webhook')
    return caughtUp || booked > 0
  })
}
