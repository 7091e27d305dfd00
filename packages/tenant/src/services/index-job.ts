import type { Engine } from '../engine/engine.ts'
import type { Job } from '../engine/scheduler.ts'
import { indexText, textBacklog } from '../query/text-index.ts'
import { indexVersions, versionsBacklog } from '../store/versions.ts'

const QUIET_MS = 300
const TEXT_SLICE = 500
/** The more at once, the fewer pages are written; this many take some 20 ms. */
const PAST_SLICE = 2_000
/** Folding this many keeps the search that finds them waiting for some tenths of a second. */
const MOST_BEHIND = 10_000

/**
 * Folds new events into the text index and the past once writing pauses, a slice at a time, so that the first question
 * need not. Where writing does not pause, it goes on beside it.
 */
export function indexJob(engine: Engine): Job {
  let written = 0
  let behind = Math.max(textBacklog(engine.sql, engine.head.seq), versionsBacklog(engine.sql))
  const due = () => (behind === 0 ? null : behind > MOST_BEHIND ? written : written + QUIET_MS)
  engine.listen((events) => {
    const wasDue = due()
    written = engine.ports.clock.now()
    behind += events.length
    if (wasDue === null || behind > MOST_BEHIND) engine.ports.alarm.wakeAt(due()!)
  })
  return {
    light: true,
    due,
    run: () => {
      const past = indexVersions(engine.sql, PAST_SLICE)
      const texts = indexText(engine.sql, engine.nouns, TEXT_SLICE)
      behind = past < PAST_SLICE && texts < TEXT_SLICE ? 0 : Math.max(1, behind - TEXT_SLICE)
    },
  }
}
