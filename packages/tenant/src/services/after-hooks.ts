import { isoOf, type Json } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import type { Job } from '../engine/scheduler.ts'
import { grantFor } from '../grant/grant.ts'
import {
  dueHooks,
  enqueueHook,
  nextHookDue,
  parkHook,
  type QueuedHook,
  removeHook,
  retryHook,
} from '../store/after-hook-queue.ts'
import { type LogRow, readEntry } from '../store/log.ts'
import { entityView } from '../view/entity.ts'
import { eventView, stateOf } from '../view/event.ts'
import { storedHook } from './scripts/stored.ts'
import { runStoredAfter, StoppedError } from './scripts/stored-after.ts'
import { runNow } from './scripts/stored-before.ts'
import { sessionOf } from './session.ts'

const FIRST_WAIT = 1_000
const MOST_FAILURES = 12
/** A hook whose write leads to a hook whose write …: past this it is a loop. */
const MOST_HOPS = 5

/** Books the AFTER hooks of an event in its own transaction, so that a crash cannot lose them. */
export function enqueueAfterHooks(tenant: Engine): (event: LogRow) => void {
  return (event) => {
    const own = tenant.options.hooks?.after(event.type, event.event) ?? []
    const stored = storedHook(tenant, event.type, event.event)
    const hooks = [...own.map((_, i) => String(i)), ...(stored ? [stored.id] : [])]
    if (hooks.length === 0) return
    const { sql, hops } = tenant
    if (hops > MOST_HOPS) return park(tenant, event, hooks)
    const now = tenant.ports.clock.now()
    for (const hook of hooks) enqueueHook(sql, event.seq, hook, hops, now)
    tenant.ports.alarm.wakeAt(now)
  }
}

/** Runs the AFTER hooks that are due. One that fails is tried again, later each time; the verb stands. */
export function afterHookJob(tenant: Engine): Job {
  return {
    due: () => nextHookDue(tenant.sql),
    run: async () => {
      for (const job of dueHooks(tenant.sql, tenant.ports.clock.now())) {
        try {
          await runAfter(tenant, job)
          removeHook(tenant.sql, job.id)
        } catch (reason) {
          // The host is stopping: the job stays due, and is done when the tenant is next open.
          if (reason instanceof StoppedError || tenant.isClosed) return
          book(tenant, job, reason)
        }
      }
    },
  }
}

async function runAfter(tenant: Engine, job: QueuedHook): Promise<void> {
  const event = readEntry(tenant.sql, job.seq)
  if (!event || event.data === null) return
  const entity = entityView(stateOf(event, event.data), tenant.context)
  const view = eventView(event, tenant)
  if (!/^\d+$/.test(job.hook)) return runStoredAfter(tenant, event, entity, view, job.hops + 1)
  const hook = tenant.options.hooks?.after(event.type, event.event)[Number(job.hook)]
  if (!hook) return
  const late: Promise<Json>[] = []
  const $ = sessionOf(tenant, grantFor(`hook:${event.type}.${event.event}`), event.correlation, (work) => {
    const given = runNow(tenant, () => tenant.after(job.hops + 1, work))
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

function book(tenant: Engine, job: QueuedHook, reason: unknown): void {
  const failures = job.failures + 1
  const due = failures >= MOST_FAILURES ? null : tenant.ports.clock.now() + FIRST_WAIT * 2 ** (failures - 1)
  retryHook(tenant.sql, job.id, failures, due, reason instanceof Error ? reason.message : String(reason))
  tenant.options.log?.('warn', `An AFTER hook failed for event ${job.seq} of ${tenant.slug}`, {
    failures,
    reason: String(reason),
    ...(due !== null && { next: isoOf(due) }),
  })
}

function park(tenant: Engine, event: LogRow, hooks: readonly string[]): void {
  const error = `This hook was not run: ${tenant.hops} hooks, one after the other, led here. Break the loop.`
  for (const hook of hooks) parkHook(tenant.sql, event.seq, hook, tenant.hops, error)
  tenant.options.log?.('warn', `A loop of AFTER hooks was stopped at event ${event.seq} of ${tenant.slug}`)
}
