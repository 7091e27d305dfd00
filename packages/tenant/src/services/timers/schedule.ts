import { type Json, type JsonObject, type Noun, parseInstant, type Timer } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Job } from '../../engine/scheduler.ts'
import {
  cancelTimer,
  clearTimers,
  DECLARED_TIMERS,
  endScan,
  forgottenTimers,
  hasScans,
  moveScan,
  nextScan,
  removeMarks,
  scheduleMissing,
  scheduleTimer,
  startScan,
} from '../../store/automation/timers.ts'
import { type Stored, statesAfter } from '../../store/entities.ts'
import type { LogRow } from '../../store/log/log.ts'
import { getMeta, setMeta } from '../../store/meta.ts'
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
  // A migration sets no time: what was due has run, or waits to.
  if (event.verb === 'migrate' && at !== null && at <= now) return
  const hops = at !== null && at < now + PAUSE ? context.hops : 0
  if (at === null || (at <= now && (context.past || BACKWARD.has(event.verb))) || hops > MOST_HOPS) {
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

/** Entities per slice. */
const SLICE = 500
/** Earlier than every time. */
const ALWAYS = Number.MIN_SAFE_INTEGER

/** Fields by `Type.timer`. */
type Declared = { readonly [timer: string]: string }

/**
 * Schedules the timers that a type declares again, for the entities that it has. Times in the past are due at once. A
 * timer that follows another field from now on, or one with another name, has had its chance: only times to come count.
 */
export function declareTimers(engine: Engine, after: Noun, before: Noun | undefined): void {
  for (const { name, at } of Object.values(after.timers)) {
    const known = before?.timers[name]
    if (known?.at === at) continue
    const later = known ? engine.ports.clock.now() : ALWAYS
    startScan(engine.sql, { type: after.name, name, seq: engine.head.seq, later })
  }
}

/**
 * Schedules what the program declares and this tenant does not know yet. A file from before timers, a restored file and
 * a fork have forgotten theirs: there, only times to come count.
 */
export function declareProgram(engine: Engine): 'known' | 'forgotten' {
  const { sql, head, options, ports } = engine
  if (head.seq === 0) return 'known'
  const declared = timersOf(options.nouns.all)
  const text = JSON.stringify(declared)
  const known = getMeta(sql, DECLARED_TIMERS)
  if (known === text) return 'known'
  const later = forgottenTimers(sql, ports.clock.now())
  sql.transaction(() => {
    if (later !== null) rebuildTimers(engine, later)
    else if (known !== null) declareNew(engine, declared, JSON.parse(known))
    setMeta(sql, DECLARED_TIMERS, text)
  })
  ports.alarm.wakeAt(ports.clock.now())
  return later === null ? 'known' : 'forgotten'
}

/** Notes what the program declares with the first event of a tenant: a commit of its own would double the time of that write. */
export function noteProgram({ sql, engine }: Write, { seq }: LogRow): void {
  if (seq === 1) setMeta(sql, DECLARED_TIMERS, JSON.stringify(timersOf(engine.options.nouns.all)))
}

function declareNew({ sql, head }: Engine, declared: Declared, known: Declared): void {
  for (const [timer, at] of Object.entries(declared)) {
    if (known[timer] === at) continue
    const [type, name] = timer.split('.') as [string, string]
    startScan(sql, { type, name, seq: head.seq, later: ALWAYS })
  }
}

/** Makes all timers again from the entities; what was due before a time does not run. */
function rebuildTimers({ sql, nouns, head }: Engine, later: number): void {
  clearTimers(sql)
  for (const timer of Object.keys(timersOf(nouns.all))) {
    const [type, name] = timer.split('.') as [string, string]
    startScan(sql, { type, name, seq: head.seq, later })
  }
}

/** Goes through the entities of types whose timers are new, a slice at a time. */
export function timerScanJob(engine: Engine): Job {
  const { sql } = engine
  return {
    due: () => (hasScans(sql) ? 0 : null),
    run: () => sql.transaction(() => scanSlice(engine)),
  }
}

function scanSlice({ sql, nouns }: Engine): void {
  const scan = nextScan(sql)
  if (!scan) return
  const { type, name, seq, later, after } = scan
  const timer = nouns.get(type)?.timers[name]
  const states = timer ? statesAfter(sql, type, after, SLICE) : []
  for (const [n, data] of states) {
    const at = timeIn((JSON.parse(data) as JsonObject)[timer!.at])
    if (at !== null && at > later) scheduleMissing(sql, { n, type, name, at, hops: 0 }, seq)
  }
  const reached = states.length < SLICE ? Number.MAX_SAFE_INTEGER : states.at(-1)![0]
  removeMarks(sql, type, name, after, reached)
  if (states.length < SLICE) endScan(sql, scan)
  else moveScan(sql, scan, reached)
}

function timersOf(nouns: readonly Noun[]): Declared {
  return Object.fromEntries(
    nouns.flatMap((noun) => Object.values(noun.timers).map(({ name, at }) => [`${noun.name}.${name}`, at])),
  )
}
