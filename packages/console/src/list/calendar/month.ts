import type { Json } from '@tildebase/nouns'
import { pagesOf } from '../../service/pages.ts'
import type { Entity } from '../../values/entity.ts'
import { firstWeekday } from '../../values/format.ts'
import type { Noun } from '../../values/noun.ts'
import { dayName, dayNamed, dayOf, moved } from '../filter/periods.ts'
import type { Question } from '../question.ts'

const WEEKS = 6
const MOST = 600

/** The days that a calendar shows for a month: six whole weeks, which begin as the reader's country has it. */
export function daysOf(month: Date): Date[] {
  const first = new Date(month.getFullYear(), month.getMonth(), 1)
  const back = (first.getDay() - firstWeekday() + 7) % 7
  return Array.from({ length: WEEKS * 7 }, (_, n) => moved(first, n - back))
}

/** The month of a text such as `2026-11`, or this month. */
export function monthOf(text: string | null): Date {
  return dayNamed(`${text}-01`) ?? new Date(new Date().getFullYear(), new Date().getMonth(), 1)
}

/** The entities whose field lies in these days, by the names of the days. */
export async function loadDays(
  { noun, filter, include, time }: Question,
  field: string,
  days: readonly Date[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly Entity[]>> {
  const [from, to] = [days[0]!, moved(days.at(-1)!, 1)]
  const bound = (day: Date) => (isDay(noun, field) ? dayName(day) : day.toISOString())
  const within = { [field]: { $gte: bound(from), $lt: bound(to) } }
  const both = Object.keys(filter).length === 0 ? within : { $and: [filter, within] }
  const query = { filter: both, sort: field, include: include.join(',') || undefined, asOf: time ?? undefined }
  const found: Entity[] = []
  for await (const entities of pagesOf(noun.name, query, signal)) {
    found.push(...entities)
    if (found.length >= MOST) break
  }
  return Map.groupBy(found, (entity) => dayIn(entity[field]))
}

/** The value of a field on another day: a time of the day stays. */
export function onDay(noun: Noun, field: string, day: string, old: Json | undefined): string {
  if (isDay(noun, field)) return day
  const target = dayNamed(day)!
  const time = typeof old === 'string' ? new Date(old) : new Date(0, 0, 1, 9)
  target.setHours(time.getHours(), time.getMinutes(), time.getSeconds())
  return target.toISOString()
}

/** The day of a value, in the zone of the browser. */
function dayIn(value: Json | undefined): string {
  const text = String(value)
  return text.length === 10 ? text : dayName(dayOf(new Date(text)))
}

function isDay(noun: Noun, field: string): boolean {
  return noun.fields[field]?.kind === 'date'
}
