import { isoOf } from '@tildebase/nouns'
import { eventView, stateOf } from './event-view.ts'
import { addAfter, doneAfter, dueAfters, failAfter, nextAfter } from './store/afters.ts'
import { type LogRow, readEntry } from './store/log.ts'
import type { Chore, Tenant } from './tenant.ts'
import { entityView } from './view.ts'

const FIRST_WAIT = 1_000
const MOST_FAILURES = 12

/** Books the AFTER hooks of an event in its own transaction, so that a crash cannot lose them. */
export function bookAfters(tenant: Tenant): (event: LogRow) => void {
  return (event) => {
    const count = tenant.options.hooks?.after(event.type, event.event).length ?? 0
    if (count === 0) return
    const now = tenant.ports.clock.now()
    for (let i = 0; i < count; i++) addAfter(tenant.sql, event.seq, String(i), now)
    tenant.ports.alarm.wakeAt(now)
  }
}

/** Runs the AFTER hooks that are due. One that fails is tried again, later each time; the verb stands. */
export function afterChore(tenant: Tenant): Chore {
  return {
    due: () => nextAfter(tenant.sql),
    run: async () => {
      for (const job of dueAfters(tenant.sql, tenant.ports.clock.now())) {
        try {
          await runAfter(tenant, job.seq, Number(job.hook))
          doneAfter(tenant.sql, job.id)
        } catch (reason) {
          const failures = job.failures + 1
          const due = failures >= MOST_FAILURES ? null : tenant.ports.clock.now() + FIRST_WAIT * 2 ** (failures - 1)
          failAfter(tenant.sql, job.id, failures, due, reason instanceof Error ? reason.message : String(reason))
          tenant.options.log?.('warn', `An AFTER hook failed for event ${job.seq} of ${tenant.slug}`, {
            failures,
            reason: String(reason),
            ...(due !== null && { next: isoOf(due) }),
          })
        }
      }
    },
  }
}

async function runAfter(tenant: Tenant, seq: number, index: number): Promise<void> {
  const event = readEntry(tenant.sql, seq)
  if (!event || event.data === null) return
  const hook = tenant.options.hooks?.after(event.type, event.event)[index]
  if (!hook) return
  const entity = entityView(stateOf(event, event.data), tenant.context)
  await hook(entity, tenant.session(`hook:${event.type}.${event.event}`), eventView(event, tenant))
}
