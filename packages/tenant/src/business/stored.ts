import { isoOf, type JsonObject } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import type { Grant } from '../grant/grant.ts'
import { filterOf } from '../query/filter.ts'
import { find, get } from '../query/find.ts'
import { readContextOf } from '../query/parameters.ts'
import { currentOf, type Stored } from '../store/entities.ts'
import { readEntry, seqAt } from '../store/log.ts'
import { seqsOf, stateAt } from '../store/versions.ts'
import { monthEnds } from './months.ts'

/** A stored Metric by its id or, the newest of them, by its name; undefined when there is none. */
export function storedMetric(tenant: Engine, grant: Grant, idOrName: string, asOf: number | null): Stored | undefined {
  const reader = readContextOf(tenant, grant)
  const moment = { asOf: asOf === null ? null : seqAt(tenant.sql, tenant.head, asOf) }
  const byId = get(reader, 'Metric', idOrName, moment)
  if (byId) return byId
  const filter = filterOf(tenant, tenant.noun('Metric'), { name: idOrName })
  return find(reader, { type: 'Metric', filter, limit: 1, total: false, ...moment }).results[0]
}

/** The values of a stored Metric at the ends of the last twelve months. */
export function metricHistory(tenant: Engine, metric: Stored, asOf: number | null): JsonObject[] {
  const current = currentOf(tenant.sql, 'Metric', metric.id)
  return monthEnds(asOf ?? tenant.ports.clock.now()).map((at) => {
    const then = current && stateAt(tenant.sql, current, seqAt(tenant.sql, tenant.head, at))
    return { date: isoOf(at).slice(0, 10), value: then ? (JSON.parse(then.data).value ?? null) : null }
  })
}

/** The values that a stored Metric has had, oldest first: the last `limit` of them. */
export function metricSeries(tenant: Engine, metric: Stored, limit: number): JsonObject[] {
  return seqsOf(tenant.sql, metric.ordinal)
    .slice(0, limit)
    .reverse()
    .flatMap((seq) => {
      const event = readEntry(tenant.sql, seq)
      if (!event || event.data === null) return []
      return [{ timestamp: isoOf(event.at), value: JSON.parse(event.data).value ?? null, event: event.event }]
    })
}
