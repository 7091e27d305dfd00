import { isoOf, type Json, type JsonObject } from '@tildebase/nouns'
import { visibilityOf } from '../../../query/rights/visibility.ts'
import { askOf, closeAsks } from '../../../store/automation/asks.ts'
import { dropWait, waitOf } from '../../../store/automation/waits.ts'
import type { RunRow } from '../../../store/automation/workflow-runs.ts'
import { readEntry } from '../../../store/log/log.ts'
import { eventView } from '../../../view/event.ts'
import type { Write } from '../../../write/write.ts'
import type { Sources } from '../values.ts'
import { ask } from './ask.ts'
import { durationOf, LONGEST_STEP } from './duration.ts'
import type { Step } from './step.ts'
import { momentOf } from './until.ts'
import { waitForEvent } from './wait-for.ts'

/** Begins to wait: for time, for an event or for a person. Returns what the run keeps of it; `until` ends the wait. */
export function beginWait(write: Write, run: RunRow, place: number, step: Step, sources: Sources): JsonObject {
  const now = write.context.clock.now()
  const until = (duration: string | number | undefined) =>
    duration === undefined ? null : isoOf(now + durationOf(duration, LONGEST_STEP)!)
  if ('wait' in step) return { until: until(step.wait) }
  if ('until' in step) return { until: isoOf(momentOf(step.until, sources)) }
  if ('waitFor' in step) {
    return { ...waitForEvent(write, run.n, place, step, sources), until: until(step.timeout) }
  }
  if (!('ask' in step)) throw new TypeError('This step does not wait.')
  const { input, due } = ask(write, run, place, step, sources)
  return { ...input, until: due === null ? null : isoOf(due) }
}

/** What a step has waited for: the moment, the event, the answer, or null after its timeout; undefined while it waits. */
export function endOfWait(
  write: Write,
  run: RunRow,
  place: number,
  step: Step,
  { until }: JsonObject,
): Json | undefined {
  const { sql, context } = write
  const isOver = typeof until === 'string' && context.clock.now() >= Date.parse(until)
  if ('waitFor' in step) {
    const seq = waitOf(sql, run.n, place)?.seq ?? null
    if (seq === null && !isOver) return undefined
    dropWait(sql, run.n)
    return seq === null ? null : eventAt(write, seq)
  }
  if ('ask' in step) {
    const asked = askOf(sql, run.n, place)
    if (asked?.state === 'Answered') return asked.answer
    if (isOver) closeAsks(sql, run.n, 'Expired')
    return isOver ? null : undefined
  }
  return isOver ? until : undefined
}

/** An event as the author of the workflow sees it. */
function eventAt({ engine, grant }: Write, seq: number): Json {
  const row = readEntry(engine.sql, seq)
  const shown = row && visibilityOf(engine, grant, null).show(row)
  return shown ? eventView(shown, engine) : null
}
