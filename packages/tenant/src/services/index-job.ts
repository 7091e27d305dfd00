import type { Engine } from '../engine/engine.ts'
import type { Job } from '../engine/scheduler.ts'
import { indexText, textBacklog } from '../query/text-index.ts'
import { indexVersions, versionsBacklog } from '../store/versions.ts'

const QUIET_MS = 300
/** The more at once, the fewer pages are written; this many take some 20 ms. */
const VERSIONS_SLICE = 2_000
/** Indexing this many keeps the search that finds them waiting for some tenths of a second. */
const MOST_BEHIND = 10_000

/**
 * Brings the text index and the versions up to the log once writing pauses, a slice at a time, so that the first question
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
      const isDone = indexSlice(engine)
      behind = isDone ? 0 : Math.max(1, textBacklog(engine.sql, engine.head.seq))
    },
  }
}

/** Whether there is more to index than one slice takes. */
export function isFarBehind(engine: Engine): boolean {
  const { head, sql } = engine
  return textBacklog(sql, head.seq) > 100 || versionsBacklog(sql) > VERSIONS_SLICE
}

/** Indexes one slice, and commits it. Returns whether all events are indexed now. */
export function indexSlice(engine: Engine): boolean {
  const versions = indexVersions(engine.sql, VERSIONS_SLICE)
  return indexText(engine.sql, engine.nouns) && versions < VERSIONS_SLICE
}
