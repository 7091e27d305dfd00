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
} from '../store/automation/after-hook-queue.ts'
import { type LogRow, readEntry } from '../store/log/log.ts'
import { entityView } from '../view/entity.ts'
import { eventView, stateOf } from '../view/event.ts'
import type { Transactor } from '../write/group-commit.ts'
import { storedHook } from '../write/stored-hooks.ts'
import type { Write } from '../write/write.ts'
import { runNow } from './scripts/run-write.ts'
import { runStoredAfter, StoppedError } from './scripts/stored-after.ts'
import { isReadOperation, readOperation, sessionOf, writeOperation } from './session.ts'

const FIRST_WAIT = 1_000
const MOST_FAILURES = 12
/** A hook whose write leads to a hook whose write …: past this it is a loop. */
const MOST_HOPS = 5

/** Queues the AFTER hooks of an event in its own transaction, so that a crash cannot lose them. */
export function enqueueAfterHooks(write: Write, event: LogRow): void {
  const { engine, sql, context } = write
  const own = engine.options.hooks?.after(event.type, event.event)
  const stored = storedHook(engine, event.type, event.event)
  if (!own?.length && !stored) return
  const hooks = [...(own ?? []).map((_, i) => String(i)), ...(stored ? [stored.id] : [])]
  if (context.hops > MOST_HOPS) {
    park(engine, event, hooks, context.hops)
    return
  }
  const now = context.clock.now()
  for (const hook of hooks) enqueueHook(sql, event.seq, hook, context.hops, now)
  write.wakeAt(now)
}

/** Runs the AFTER hooks that are due. One that fails is tried again, later each time; the verb stays done. */
export function afterHookJob(transactor: Transactor): Job {
  const { engine } = transactor
  return {
    due: () => engine.automation.notBefore(nextHookDue(engine.sql), engine.ports.clock.now()),
    run: async () => {
      for (const job of dueHooks(engine.sql, engine.ports.clock.now())) {
        if (engine.automation.resumesAt(engine.ports.clock.now()) > 0) return
        try {
          await runAfter(transactor, job)
          removeHook(engine.sql, job.id)
        } catch (reason) {
          // The host is stopping: the job stays due, and is done when the tenant is next open.
          if (reason instanceof StoppedError || engine.scheduler.isClosed) return
          retry(engine, job, reason)
        }
      }
    },
  }
}

async function runAfter(transactor: Transactor, job: QueuedHook): Promise<void> {
  const { engine } = transactor
  const event = readEntry(engine.sql, job.seq)
  if (!event || event.data === null) return
  const entity = entityView(stateOf(event, event.data), engine.context)
  const view = eventView(event, engine)
  const hops = job.hops + 1
  if (!/^\d+$/.test(job.hook)) return runStoredAfter(transactor, event, entity, view, hops)
  const hook = engine.options.hooks?.after(event.type, event.event)[Number(job.hook)]
  if (!hook) return
  const grant = grantFor(`hook:${event.type}.${event.event}`)
  const late: Promise<Json>[] = []
  const $ = sessionOf((type, operation, args) => {
    if (isReadOperation(operation)) return readOperation({ engine, grant }, type, operation, args)
    const given = runNow(transactor, grant, { hops, correlation: event.correlation }, (write) =>
      writeOperation(write, type, operation, args),
    )
    // What the hook does not wait for may fail without anyone looking.
    if (given instanceof Promise) late.push(given.catch(() => null))
    return given
  })
  try {
    await hook(entity, $, view)
  } finally {
    // A hook is not over while something that it wrote, and did not wait for, is in progress.
    await Promise.all(late)
  }
}

function retry(engine: Engine, job: QueuedHook, reason: unknown): void {
  const failures = job.failures + 1
  const due = failures >= MOST_FAILURES ? null : engine.ports.clock.now() + FIRST_WAIT * 2 ** (failures - 1)
  retryHook(engine.sql, job.id, failures, due, reason instanceof Error ? reason.message : String(reason))
  engine.options.log?.('warn', `An AFTER hook failed for event ${job.seq} of ${engine.slug}`, {
    failures,
    reason: String(reason),
    ...(due !== null && { next: isoOf(due) }),
  })
}

function park(engine: Engine, event: LogRow, hooks: readonly string[], hops: number): void {
  const error = `This hook did not run: ${hops} hooks triggered each other. Remove the loop.`
  for (const hook of hooks) parkHook(engine.sql, event.seq, hook, hops, error)
  engine.options.log?.('warn', `A loop of AFTER hooks was stopped at event ${event.seq} of ${engine.slug}`)
}
