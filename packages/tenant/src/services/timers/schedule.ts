import { type Json, type JsonObject, parseInstant, type Timer } from '@tildebase/nouns'
import { cancelTimer, scheduleTimer } from '../../store/automation/timers.ts'
import type { Stored } from '../../store/entities.ts'
import type { LogRow } from '../../store/log/log.ts'
import type { Write } from '../../write/write.ts'

/** Timers, hooks and workflows that lead to each other without a pause: past this it is a loop. */
const MOST_HOPS = 16
/** A timer that is further away than this begins a new chain. */
const PAUSE = 1_000
/** Verbs that lead back to an earlier state: what was due there has run, or was left out on purpose. */
const BACKWARD = new Set(['restore', 'rollback'])

/** Schedules, moves and cancels the timers of an entity in the transaction of each of its events. */
export function scheduleTimers(write: Write, event: LogRow, entity: Stored): void {
  const noun = write.engine.nouns.get(event.type)
  if (noun?.name !== event.type || noun.storage === 'log' || event.verb === 'conflict') return
  let state: JsonObject | null = null
  for (const name in noun.timers) {
    const timer = noun.timers[name]!
    if (!isTouched(event, timer)) continue
    state ??= event.verb === 'delete' ? {} : (JSON.parse(entity.data) as JsonObject)
    schedule(write, event, entity.ordinal, timer, timeIn(state[timer.at]))
  }
}

/** The time that a field holds, or null. */
export function timeIn(value: Json | undefined): number | null {
  return typeof value === 'string' ? parseInstant(value) : null
}

function isTouched({ verb, previous }: LogRow, { at }: Timer): boolean {
  if (previous === null || verb === 'restore') return true
  // Most events touch no timer: the text tells without being parsed.
  return previous.includes(`"${at}":`) && Object.hasOwn(JSON.parse(previous), at)
}

function schedule(write: Write, event: LogRow, n: number, { name }: Timer, at: number | null): void {
  const { sql, engine, context } = write
  const now = context.clock.now()
  const hops = at !== null && at < now + PAUSE ? context.hops : 0
  if (at === null || (BACKWARD.has(event.verb) && at <= now) || hops > MOST_HOPS) {
    if (hops > MOST_HOPS) {
      engine.options.log?.('warn', `A loop of timers was stopped at event ${event.seq} of ${engine.slug}`)
    }
    // A new entity has none.
    if (event.verb !== 'create') cancelTimer(sql, n, name)
    return
  }
  scheduleTimer(sql, { n, type: event.type, name, at, hops }, event.seq)
  write.wakeAt(at)
}
