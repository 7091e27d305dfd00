import { isoOf, type JsonObject } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { demand, type Grant, may } from '../../grant/grant.ts'
import type { ReadContext } from '../../query/reader.ts'
import { type MetricView, metricViewOf } from '../view.ts'
import { monthEnds } from './months.ts'
import { REVENUE_TYPES, revenue } from './revenue.ts'
import { marketing, pipeline, support, trialConversion } from './sections.ts'

/** A metric that every tenant has without storing it. */
interface BuiltIn {
  readonly types: readonly string[]
  readonly value: (view: MetricView) => number | null
  readonly unit: (view: MetricView) => string
}

const money = (view: MetricView) => revenue(view).currency ?? 'currency'
const always = () => true

/** The built-in metrics by name. */
export const BUILT_IN: { readonly [name: string]: BuiltIn } = {
  mrr: { types: REVENUE_TYPES, value: (view) => revenue(view).mrr, unit: money },
  arr: { types: REVENUE_TYPES, value: (view) => revenue(view).arr, unit: money },
  nrr: { types: REVENUE_TYPES, value: (view) => revenue(view).nrr, unit: () => 'ratio' },
  churn: { types: REVENUE_TYPES, value: (view) => revenue(view).churn, unit: () => 'ratio' },
  ltv: { types: REVENUE_TYPES, value: (view) => revenue(view).ltv, unit: money },
  pipeline: {
    types: ['Deal'],
    value: (view) => pipeline(view).totalValue,
    unit: (view) => pipeline(view).currency ?? 'currency',
  },
  deals_won: { types: ['Deal'], value: dealsWon, unit: () => 'count' },
  leads: { types: ['Lead'], value: (view) => marketing(view, always).leads30d, unit: () => 'count' },
  tickets_open: { types: ['Ticket'], value: (view) => support(view).openTickets, unit: () => 'count' },
  satisfaction: { types: ['Ticket'], value: (view) => support(view).satisfaction, unit: () => 'score' },
  trial_conversion: { types: ['Subscription'], value: trialConversion, unit: () => 'ratio' },
}

/** A built-in metric with its last twelve months, or null when there is none of that name. */
export function builtInMetric(
  engine: Engine,
  grant: Grant,
  reader: ReadContext,
  name: string,
  asOf: number | null,
): JsonObject | null {
  const metric = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name]! : null
  if (metric === null) return null
  for (const type of metric.types) demand(grant, 'read', engine.noun(type))
  const view = metricViewOf(engine, grant, reader, asOf)
  const history = monthEnds(view.at).map((at, index, all) => {
    // The current month is measured until now.
    const past = index === all.length - 1 ? view : metricViewOf(engine, grant, reader, at)
    return { date: isoOf(at).slice(0, 10), value: metric.value(past) }
  })
  return {
    $type: 'Metric',
    name,
    value: metric.value(view),
    unit: metric.unit(view),
    history,
    builtIn: true,
    asOf: isoOf(view.at),
  }
}

/** The built-in metrics that depend on one of these types, as they are now, if the grant may read what they need. */
export function builtInValues(engine: Engine, grant: Grant, reader: ReadContext, types: ReadonlySet<string>) {
  const view = metricViewOf(engine, grant, reader, null)
  return Object.entries(BUILT_IN)
    .filter(([, metric]) => metric.types.some((type) => types.has(type)))
    .filter(([, metric]) => metric.types.every((type) => may(grant, 'read', engine.noun(type))))
    .map(([name, metric]) => ({ name, unit: metric.unit(view), value: metric.value(view) }))
}

function dealsWon(view: MetricView): number | null {
  const { stages } = pipeline(view)
  return stages && (stages.Won ?? 0)
}
