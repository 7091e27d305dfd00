import { declaredField, type Noun, type NounLookup, type Path } from '@tildebase/nouns'
import { type Fragment, fragment } from '../plan/fragment.ts'
import { metaColumn } from '../plan/meta.ts'
import { jsonPath } from '../plan/scope.ts'
import type { Source } from '../plan/source.ts'

/** A stretch of the calendar, in UTC, with how it is written: `2026-01-31T09`, `2026-01-31`, `2026-01`, `2026-Q1`, `2026`. */
const PERIODS = {
  hour: (time: Fragment) => fragment`strftime('%Y-%m-%dT%H', ${time})`,
  day: (time: Fragment) => fragment`strftime('%Y-%m-%d', ${time})`,
  // Its Monday.
  week: (time: Fragment) => fragment`strftime('%Y-%m-%d', ${time}, 'weekday 0', '-6 days')`,
  month: (time: Fragment) => fragment`strftime('%Y-%m', ${time})`,
  quarter: (time: Fragment) =>
    fragment`strftime('%Y', ${time}) || '-Q' || ((CAST(strftime('%m', ${time}) AS INTEGER) + 2) / 3)`,
  year: (time: Fragment) => fragment`strftime('%Y', ${time})`,
}

export type Period = keyof typeof PERIODS

export function isPeriod(word: string): word is Period {
  return Object.hasOwn(PERIODS, word)
}

/** Whether a path ends at a date or a datetime. */
export function isTimeField(path: Path, noun: Noun, nouns: NounLookup): boolean {
  if (path.into.length > 0) return false
  if (path.field === '$createdAt' || path.field === '$updatedAt') return true
  const kind = declaredField(path, noun, nouns)?.kind
  return kind === 'date' || kind === 'datetime'
}

/** The period that the time of a row lies in, as text; NULL where it has none. */
export function periodOf(source: Source, type: string, path: Path, period: Period): Fragment {
  if (path.field.startsWith('$')) {
    const column = metaColumn(source, type, path.field)
    return PERIODS[period](fragment`${column} / 1000.0, 'unixepoch'`)
  }
  const value = fragment`json_extract(${source.dataFor(path.field)}, ${jsonPath([path.field])})`
  return PERIODS[period](value)
}
