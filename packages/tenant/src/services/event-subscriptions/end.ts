import type { Engine } from '../../engine/engine.ts'
import type { Job } from '../../engine/scheduler.ts'
import {
  dropEventSubscription,
  type EventSubscription,
  endEventSubscription,
} from '../../store/outgoing/event-subscriptions.ts'
import { dropPending, enqueueMessage, firstPending } from '../../store/outgoing/outbox.ts'
import type { TransactionListener } from '../../write/write.ts'
import { allEventSubscriptions, DEPENDS_ON, grantOfHolder } from './holder.ts'

/** The working group's code for access that has ended. */
const FORBIDDEN = -32_012

/** Ends subscriptions whose time is over, and says goodbye to those whose key or consent has ended. */
export function endSubscriptionsJob(engine: Engine): Job {
  return {
    due: () => {
      const all = allEventSubscriptions(engine)
      if (all.length === 0) return null
      return hasOrphans(engine) || all.some((one) => isDone(engine, one))
        ? 0
        : Math.min(...all.map(({ expiresAt }) => expiresAt))
    },
    run: () => {
      engine.commit(() => {
        const now = engine.ports.clock.now()
        for (const one of allEventSubscriptions(engine)) {
          if (one.expiresAt <= now || isDone(engine, one)) dropEventSubscription(engine.sql, one.id)
          else if (!one.isEnded && grantOfHolder(engine, one) === null) terminate(engine, one, now)
        }
      })
      engine.cache.forget('EventSubscription')
      engine.ports.alarm.wakeAt(engine.ports.clock.now())
    },
  }
}

/** Wakes the tenant when rights change, so that subscriptions end with them. */
export const followRights: TransactionListener = (write) => {
  if (allEventSubscriptions(write.engine).length > 0) write.wakeAt(write.context.clock.now())
}

/** Events that wait are not sent: their reader has lost its rights. */
function terminate({ sql, head }: Engine, { id }: EventSubscription, now: number): void {
  const error = { code: FORBIDDEN, message: 'The key or the consent of this subscription has ended.' }
  dropPending(sql, id)
  enqueueMessage(sql, id, head.seq, now, JSON.stringify({ type: 'terminated', error }))
  endEventSubscription(sql, id)
}

function isDone({ sql }: Engine, { id, isEnded }: EventSubscription): boolean {
  return isEnded && firstPending(sql, id) === null
}

function hasOrphans(engine: Engine): boolean {
  return engine.cache.get(DEPENDS_ON, 'orphaned subscriptions', () =>
    allEventSubscriptions(engine).some((one) => !one.isEnded && grantOfHolder(engine, one) === null),
  )
}
