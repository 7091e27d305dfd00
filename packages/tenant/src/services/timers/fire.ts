import type { JsonObject, Noun, Timer } from '@tildebase/nouns'
import { authoredParts } from '../../authorship/parts.ts'
import { storedFilter } from '../../authorship/reach.ts'
import { act } from '../../authorship/stored.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { rowTest } from '../../query/answer/memory.ts'
import { readContextOf } from '../../query/read-context.ts'
import { cancelTimer, markRun, scanOf, type TimerRow } from '../../store/automation/timers.ts'
import { presentAt, type Stored } from '../../store/entities.ts'
import { runVerb } from '../../write/run-verb.ts'
import type { Write } from '../../write/write.ts'
import { timeIn } from './schedule.ts'

/** A timer as its author declared it, and the rights of that author; null when it has no author. */
export function actingTimer(engine: Engine, { type, name }: Pick<TimerRow, 'type' | 'name'>): Acting | null {
  const stored = authoredParts(engine).timers.get(`${type}.${name}`)
  return stored ? act(stored) : null
}

interface Acting {
  readonly declaration: Timer
  readonly grant: Grant
}

/** Runs the verb of a timer whose time has come, if its conditions hold, and removes the timer: both or neither. */
export function fire(write: Write, row: TimerRow, timer: Timer): void {
  const { engine, sql } = write
  const scan = scanOf(sql, row.type, row.name)
  if (scan && scan.after < row.n) markRun(sql, row.n, row.name)
  else cancelTimer(sql, row.n, row.name)
  const noun = engine.nouns.get(row.type)
  const entity = presentAt(sql, row.n)
  if (noun?.name !== row.type || entity?.type !== row.type) return
  if (!holds(engine, write.grant, noun, timer, entity, row.at)) return
  runVerb(write, { type: noun.name, verb: timer.run, id: entity.id, data: {} })
}

/** Whether an entity still has the time, and is in a state in which the timer runs. */
function holds(engine: Engine, author: Grant, noun: Noun, timer: Timer, entity: Stored, at: number): boolean {
  const state = JSON.parse(entity.data) as JsonObject
  if (timeIn(state[timer.at]) !== at) return false
  if (timer.from && !(noun.stateField !== null && timer.from.includes(String(state[noun.stateField])))) return false
  if (!timer.when) return true
  const filter = storedFilter(engine, author, noun, timer.when)
  return rowTest(readContextOf(engine, author), noun.name, filter)(entity)
}
