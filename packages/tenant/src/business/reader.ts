import { type JsonObject, type Lens, listed, Problem } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { demand, type Grant } from '../grant/grant.ts'
import type { ReadContext } from '../query/reader.ts'
import { entityView } from '../view/entity.ts'
import type { FlagCounts } from './flag-counts.ts'
import { type Evaluation, evaluateFlag } from './flags.ts'
import { BUILT_IN, builtInMetric } from './metrics/builtin.ts'
import { snapshot } from './metrics/snapshot.ts'
import { metricHistory, metricSeries, storedMetric } from './metrics/stored.ts'
import { asOfTime } from './view.ts'

/** Metrics and feature flags as a grant may read them. */
export class BusinessReader {
  readonly #engine: Engine
  readonly #grant: Grant
  readonly #reader: ReadContext
  readonly #counts: FlagCounts

  constructor(engine: Engine, grant: Grant, reader: ReadContext, counts: FlagCounts) {
    this.#engine = engine
    this.#grant = grant
    this.#reader = reader
    this.#counts = counts
  }

  /** The time that `asOf` means. */
  asOf(value: unknown): number {
    return asOfTime(this.#engine, value)
  }

  /** The metrics snapshot: the sections of the lens, null if the grant may not read them. */
  snapshot(lens: Lens, asOf: number | null): JsonObject {
    return snapshot(this.#engine, this.#grant, this.#reader, lens, asOf)
  }

  /** A stored Metric of that name, else a built-in one, with its last twelve months. */
  metric(name: string, asOf: number | null): JsonObject {
    const { context } = this.#reader
    demand(this.#grant, 'read', this.#engine.noun('Metric'))
    const stored = storedMetric(this.#engine, this.#reader, name, asOf)
    if (stored) {
      return { ...entityView(stored, context), history: metricHistory(this.#engine, this.#reader, stored, asOf) }
    }
    const builtIn = builtInMetric(this.#engine, this.#grant, this.#reader, name, asOf)
    if (builtIn) return { ...builtIn, $context: context }
    const known = Object.keys(BUILT_IN)
    throw new Problem('not_found', `There is no Metric ${name}. The built-in metrics are ${listed(known, 'and')}.`, {
      type: 'Metric',
      id: name,
      builtIn: known,
    })
  }

  /** The values that a stored Metric has had, oldest first. */
  series(idOrName: string, limit: number): JsonObject[] {
    demand(this.#grant, 'read', this.#engine.noun('Metric'))
    const metric = storedMetric(this.#engine, this.#reader, idOrName, null)
    if (metric) return metricSeries(this.#engine, this.#grant, metric, limit)
    throw new Problem('not_found', `There is no stored Metric ${idOrName}.`, { type: 'Metric', id: idOrName })
  }

  /** What a feature flag, named by id or key, says for a user in a context. */
  evaluateFlag(idOrKey: string, userId: string | null, context: JsonObject): Evaluation {
    return this.#reader.budget.time(() =>
      evaluateFlag(this.#engine, this.#grant, this.#reader, this.#counts, idOrKey, userId, context),
    )
  }
}
