import { randomText } from '../../ids.ts'
import type { Random } from '../../ports.ts'

/**
 * The id of an event names its time and its seq; only the rest is chance. So the row of an event holds the rest alone, and
 * the event is found by its id without an index. The row of a tracked Event, and of one whose id was given elsewhere,
 * holds all of it: it has an underscore.
 */
const PREFIX = 'event_'
const CHANCE = 10
const TIME_DIGITS = 11
const SEQ_DIGITS = 7
/** The first time that has more digits. */
const LATEST = 16 ** TIME_DIGITS

/** A new id of the event that has this time and this seq. */
export function newEventId(at: number, seq: number, random: Random): string {
  if (!hasDigits(at)) return `${PREFIX}${randomText(random, TIME_DIGITS + SEQ_DIGITS + CHANCE)}`
  return `${prefixOf(at, seq)}${randomText(random, CHANCE)}`
}

/** What the row of an event holds of its id. */
export function storedId(id: string, at: number, seq: number): string {
  if (!hasDigits(at)) return id
  const prefix = prefixOf(at, seq)
  const own = id.slice(prefix.length)
  return own.length === CHANCE && !own.includes('_') && id.startsWith(prefix) ? own : id
}

/** The id of an event, given what its row holds. */
export function wholeId(stored: string, at: number, seq: number): string {
  if (stored.includes('_')) return stored
  return `${prefixOf(at, seq)}${stored}`
}

/** The seq that an id names; 0 if it names none. */
export function seqIn(id: string): number {
  return FORM.test(id) ? Number.parseInt(id.slice(PREFIX.length + TIME_DIGITS, -CHANCE), 16) : 0
}

const FORM = new RegExp(`^${PREFIX}[0-9a-f]{${TIME_DIGITS + SEQ_DIGITS},}[0-9A-Za-z]{${CHANCE}}$`)

/** Whether a row of the log holds its id as a whole, as SQL. The index over ids has these rows. */
export function isWhole(log: string): string {
  return `instr(${log}id, '_') > 0`
}

/** The id of the event in a row of the log, as SQL. */
export function eventIdOf(log: string): string {
  const derived = `printf('${PREFIX}%0${TIME_DIGITS}x%0${SEQ_DIGITS}x', ${log}.at, ${log}.seq) || ${log}.id`
  return `iif(${isWhole(`${log}.`)}, ${log}.id, ${derived})`
}

/** Whether a time has as many digits as ids have for it. An imported past may begin before 1970. */
function hasDigits(at: number): boolean {
  return at >= 0 && at < LATEST
}

/** The newest prefix: an id is made, and shortened for its row, for the same event. */
let newest = { at: -1, seq: -1, prefix: '' }

function prefixOf(at: number, seq: number): string {
  if (newest.at !== at || newest.seq !== seq)
    newest = { at, seq, prefix: `${PREFIX}${hexOf(at, TIME_DIGITS)}${hexOf(seq, SEQ_DIGITS)}` }
  return newest.prefix
}

function hexOf(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}
