import type { JsonObject, Noun, Timer } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { type Grant, grantFor } from '../../grant/grant.ts'
import { filterOf } from '../../query/filter.ts'
import { rowTest } from '../../query/memory.ts'
import { readContextOf } from '../../query/read-context.ts'
import { presentAt, type Stored } from '../../store/entities.ts'
import { cancelTimer, markRun, scanOf, type TimerRow } from '../../store/timers.ts'
import { runVerb } from '../../write/run-verb.ts'
import type { Write } from '../../write/write.ts'
import { timeIn } from './schedule.ts'

/** The grant that the verb of a timer runs with. The key that declared the timer could run the verb on every entity. */
export function grantOfTimer({ type, name }: Pick<TimerRow, 'type' | 'name'>): Grant {
  return grantFor(`timer:${type}.${name}`)
}

/** Runs the verb of a timer whose time has come, if its conditions hold, and removes the timer: both or neither. */
export function fire(write: Write, row: TimerRow): void {
  const { engine, sql } = write
  const scan = scanOf(sql, row.type, row.name)
  if (scan && scan.after < row.n) markRun(sql, row.n, row.name)
  else cancelTimer(sql, row.n, row.name)
  const noun = engine.nouns.get(row.type)
  const timer = noun?.name === row.type && Object.hasOwn(noun.timers, row.name) ? noun.timers[row.name] : undefined
  const entity = presentAt(sql, row.n)
  if (!noun || !timer || entity?.type !== row.type || !holds(engine, noun, timer, entity, row.at)) return
  runVerb(write, { type: noun.name, verb: timer.run, id: entity.id, data: {} })
}

/** Whether an entity still has the time, and is in a state in which the timer runs. */
function holds(engine: Engine, noun: Noun, timer: Timer, entity: Stored, at: number): boolean {
  const state = JSON.parse(entity.data) as JsonObject
  if (timeIn(state[timer.at]) !== at) return false
  if (timer.from && !(noun.stateField !== null && timer.from.includes(String(state[noun.stateField])))) return false
  if (!timer.when) return true
  const filter = filterOf(engine, noun, timer.when)
  return rowTest(readContextOf(engine, grantOfTimer({ type: noun.name, name: timer.name })), noun.name, filter)(entity)
}
