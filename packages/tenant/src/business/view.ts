import { isoOf, parseAsOf } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import type { Grant } from '../grant/grant.ts'
import { momentOf } from '../query/plan/moment.ts'
import type { Moment, ReadContext } from '../query/reader.ts'
import { readEntry, seqAt } from '../store/log/log.ts'
import type { Window } from './sql/subscriptions.ts'

const DAY = 86_400_000
const MINUTE = 60_000
const WINDOW_DAYS = 30

/** The input of a metric: the tenant as the grant sees it at a time, and the thirty days before. */
export interface MetricView {
  readonly reader: ReadContext
  readonly moment: Moment
  readonly at: number
  readonly window: Window
  readonly since: number
  /** The moment at which the window begins; null when the log does not reach back so far. */
  readonly before: Moment | null
  /** The answer to a question about these types, worked out once until one of them changes. */
  once<T>(types: readonly string[], question: string, compute: () => T): T
}

/** The tenant now, or as it was at a time. */
export function metricViewOf(engine: Engine, grant: Grant, reader: ReadContext, asOf: number | null): MetricView {
  const at = asOf ?? engine.ports.clock.now()
  const seq = asOf === null ? null : seqAt(engine.sql, engine.head, asOf)
  const since = at - WINDOW_DAYS * DAY
  const before = seqAt(engine.sql, engine.head, since)
  // The window moves with the time: within a minute that is nothing.
  const key = seq === null ? `now ${Math.floor(at / MINUTE)}` : `${seq} ${at}`
  return {
    reader,
    moment: momentOf(engine, seq),
    at,
    window: { from: isoOf(since), to: isoOf(at) },
    since,
    before: before === 0 ? null : momentOf(engine, before),
    once: (types, question, compute) => {
      const rows = types.map((type) => grant.rows[type] ?? null)
      // The past under a seq does not change any more.
      return engine.cache.get(
        seq === null ? ['Schema', ...types] : ['Schema'],
        `metrics ${question} ${key} ${JSON.stringify(rows)}`,
        compute,
      )
    },
  }
}

/** The time that `asOf` names. A seq means the time of its event. */
export function asOfTime(engine: Engine, value: unknown): number {
  const moment = parseAsOf(value, engine.nextTime())
  if ('at' in moment) return moment.at
  return readEntry(engine.sql, Math.min(moment.seq, engine.head.seq))?.at ?? 0
}

/** A number with so many decimals, without the noise behind them. */
export function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals))
}

/** `part` of `whole`, or null when there is no whole. */
export function share(part: number, whole: number): number | null {
  return whole > 0 ? rounded(part / whole, 4) : null
}
