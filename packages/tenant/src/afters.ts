import { isoOf, type Json } from '@tildebase/nouns'
import { eventView, stateOf } from './event-view.ts'
import type { Chore } from './household.ts'
import { grantFor } from './keys/grant.ts'
import { runStoredAfter, StoppedError } from './scripts/after.ts'
import { atOnce } from './scripts/settle.ts'
import { storedHook } from './scripts/stored.ts'
import { sessionOf } from './session.ts'
import { type After, addAfter, doneAfter, dueAfters, failAfter, nextAfter, parkAfter } from './store/afters.ts'
import { type LogRow, readEntry } from './store/log.ts'
import type { Tenant } from './tenant.ts'
import { entityView } from './view.ts'

const FIRST_WAIT = 1_000
const MOST_FAILURES = 12
/** A hook whose write leads to a hook whose write …: past this it is a loop. */
const MOST_HOPS = 5

/** Books the AFTER hooks of an event in its own transaction, so that a crash cannot lose them. */
export function bookAfters(tenant: Tenant): (event: LogRow) => void {
  return (event) => {
    const own = tenant.options.hooks?.after(event.type, event.event) ?? []
    const stored = storedHook(tenant, event.type, event.event)
    const hooks = [...own.map((_, i) => String(i)), ...(stored ? [stored.id] : [])]
    if (hooks.length === 0) return
    const { sql, hops } = tenant
    if (hops > MOST_HOPS) return park(tenant, event, hooks)
    const now = tenant.ports.clock.now()
    for (const hook of hooks) addAfter(sql, event.seq, hook, hops, now)
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
          await runAfter(tenant, job)
          doneAfter(tenant.sql, job.id)
        } catch (reason) {
          // The host is stopping: the job stays due, and is done when the tenant is next open.
          if (reason instanceof StoppedError || tenant.isClosed) return
          book(tenant, job, reason)
        }
      }
    },
  }
}

async function runAfter(tenant: Tenant, job: After): Promise<void> {
  const event = readEntry(tenant.sql, job.seq)
  if (!event || event.data === null) return
  const entity = entityView(stateOf(event, event.data), tenant.context)
  const view = eventView(event, tenant)
  if (!/^\d+$/.test(job.hook)) return runStoredAfter(tenant, event, entity, view, job.hops + 1)
  const hook = tenant.options.hooks?.after(event.type, event.event)[Number(job.hook)]
  if (!hook) return
  const late: Promise<Json>[] = []
  const $ = sessionOf(tenant, grantFor(`hook:${event.type}.${event.event}`), event.correlation, (work) => {
    const given = atOnce(tenant, () => tenant.after(job.hops + 1, work))
    // What the hook does not wait for may fail without anybody looking.
    if (given instanceof Promise) late.push(given.catch(() => null))
    return given
  })
  try {
    await hook(entity, $, view)
  } finally {
    // A hook is not over while something that it wrote, and did not wait for, is under way.
    await Promise.all(late)
  }
}

function book(tenant: Tenant, job: After, reason: unknown): void {
  const failures = job.failures + 1
  const due = failures >= MOST_FAILURES ? null : tenant.ports.clock.now() + FIRST_WAIT * 2 ** (failures - 1)
  failAfter(tenant.sql, job.id, failures, due, reason instanceof Error ? reason.message : String(reason))
  tenant.options.log?.('warn', `An AFTER hook failed for event ${job.seq} of ${tenant.slug}`, {
    failures,
    reason: String(reason),
    ...(due !== null && { next: isoOf(due) }),
  })
}

function park(tenant: Tenant, event: LogRow, hooks: readonly string[]): void {
  const error = `This hook was not run: ${tenant.hops} hooks, one after the other, led here. Break the loop.`
  for (const hook of hooks) parkAfter(tenant.sql, event.seq, hook, tenant.hops, error)
  tenant.options.log?.('warn', `A loop of AFTER hooks was stopped at event ${event.seq} of ${tenant.slug}`)
}
