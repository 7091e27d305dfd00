import { isoOf, type JsonObject, type Lens } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { type Grant, may } from '../../grant/grant.ts'
import type { ReadContext } from '../../query/reader.ts'
import { type MetricView, metricViewOf } from '../view.ts'
import { REVENUE_TYPES, revenue } from './revenue.ts'
import { marketing, pipeline, product, support } from './sections.ts'

type May = (type: string) => boolean

/** A part of the snapshot: the domains whose lens surfaces it, the types it needs, and what it shows. */
interface Section {
  readonly domains: readonly string[]
  /** True when the key may read enough for the section to say anything. */
  readonly open: (may: May) => boolean
  readonly show: (view: MetricView, may: May) => JsonObject
}

const SECTIONS: { readonly [name: string]: Section } = {
  revenue: { domains: ['billing'], open: (may) => REVENUE_TYPES.every(may), show: revenueSection },
  pipeline: { domains: ['crm'], open: (may) => may('Deal'), show: pipelineSection },
  product: {
    domains: ['billing', 'analytics'],
    open: (may) => may('Subscription') || may('Event'),
    show: product,
  },
  support: { domains: ['support'], open: (may) => may('Ticket'), show: support },
  marketing: { domains: ['marketing'], open: (may) => may('Campaign') || may('Lead'), show: marketing },
}

/** The metrics snapshot: the sections of the lens, null if the key may not read them. */
export function snapshot(
  engine: Engine,
  grant: Grant,
  reader: ReadContext,
  lens: Lens,
  asOf: number | null,
): JsonObject {
  const view = metricViewOf(engine, grant, reader, asOf)
  const mayRead: May = (type) => {
    const noun = engine.nouns.get(type)
    return noun !== undefined && may(grant, 'read', noun)
  }
  const shown = Object.entries(SECTIONS)
    .filter(([, { domains }]) => lens.domains === null || domains.some((domain) => lens.domains!.has(domain)))
    .map(([name, { open, show }]) => [name, open(mayRead) ? show(view, mayRead) : null])
  return { ...Object.fromEntries(shown), asOf: isoOf(view.at) }
}

function revenueSection(view: MetricView): JsonObject {
  const { currency: _, ...shown } = revenue(view)
  return shown
}

function pipelineSection(view: MetricView): JsonObject {
  const { currency: _, ...shown } = pipeline(view)
  return shown
}
