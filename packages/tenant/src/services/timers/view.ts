import { isoOf, type JsonObject, type Noun } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { demand, type Grant } from '../../grant/grant.ts'
import { isVisible } from '../../query/rights/visible-entity.ts'
import { type TimerRow, timersAt } from '../../store/automation/timers.ts'
import { currentOf } from '../../store/entities.ts'
import { notFound } from '../../write/verb.ts'

/** What is due next for an entity, and timers whose verb was refused. */
export function timersOf(engine: Engine, grant: Grant, noun: Noun, id: string): JsonObject {
  demand(grant, 'read', noun)
  const current = noun.storage === 'log' ? undefined : currentOf(engine.sql, noun.name, id)
  if (!current || !isVisible(engine, grant, noun, id)) throw notFound(noun.name, id)
  const timers = timersAt(engine.sql, current.ordinal).flatMap((row) => timerView(noun, row) ?? [])
  return { timers, total: timers.length }
}

/** Null for a timer that the type does not declare any more: it will not run. */
function timerView({ timers }: Noun, { name, at, due, error }: TimerRow): JsonObject | null {
  const timer = Object.hasOwn(timers, name) ? timers[name] : undefined
  if (!timer) return null
  return {
    name,
    at: isoOf(at),
    field: timer.at,
    run: timer.run,
    ...(timer.from && { from: timer.from }),
    ...(timer.when && { when: timer.when }),
    status: due === null ? 'Failed' : 'Waiting',
    error,
  }
}
