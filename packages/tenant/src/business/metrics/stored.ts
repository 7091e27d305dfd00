import { isoOf, type JsonObject } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { find, get } from '../../query/answer/find.ts'
import { filterOf } from '../../query/parameters/filter.ts'
import type { ReadContext } from '../../query/reader.ts'
import { visibilityOf } from '../../query/rights/visibility.ts'
import type { Stored } from '../../store/entities.ts'
import { readEntry, seqAt } from '../../store/log/log.ts'
import { seqsOf } from '../../store/log/versions.ts'
import { monthEnds } from './months.ts'

/** A stored Metric by its id or, the newest of them, by its name; undefined when there is none. */
export function storedMetric(
  engine: Engine,
  reader: ReadContext,
  idOrName: string,
  asOf: number | null,
): Stored | undefined {
  const moment = { asOf: asOf === null ? null : seqAt(engine.sql, engine.head, asOf) }
  const byId = get(reader, 'Metric', idOrName, moment)
  if (byId) return byId
  const filter = filterOf(engine, engine.noun('Metric'), { name: idOrName })
  return find(reader, { type: 'Metric', filter, limit: 1, total: false, ...moment }).results[0]
}

/** The values of a stored Metric at the ends of the last twelve months, as far as the grant sees its records. */
export function metricHistory(engine: Engine, reader: ReadContext, metric: Stored, asOf: number | null): JsonObject[] {
  return monthEnds(asOf ?? engine.ports.clock.now()).map((at) => {
    const then = get(reader, 'Metric', metric.id, { asOf: seqAt(engine.sql, engine.head, at) })
    return { date: isoOf(at).slice(0, 10), value: then ? (JSON.parse(then.data).value ?? null) : null }
  })
}

/** The values that a stored Metric has had, oldest first: the last `limit` of those that the grant sees. */
export function metricSeries(engine: Engine, grant: Grant, metric: Stored, limit: number): JsonObject[] {
  const { show } = visibilityOf(engine, grant, null)
  const points: JsonObject[] = []
  for (const seq of seqsOf(engine.sql, metric.ordinal)) {
    if (points.length === limit) break
    const record = show(readEntry(engine.sql, seq)!)
    if (!record || record.data === null) continue
    points.push({ timestamp: isoOf(record.at), value: JSON.parse(record.data).value ?? null, event: record.event })
  }
  return points.reverse()
}
