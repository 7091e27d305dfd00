import '../../style/pages/charts.css'
import type { Json } from '@tildebase/nouns'
import { useState } from 'preact/hooks'
import { BarChart, FunnelChart, LineChart, type Point, RankChart, type Step } from '../parts/chart.tsx'
import { asOf, href } from '../place.ts'
import { mayChange, mayRead } from '../service/access.ts'
import { useData, useSettled } from '../service/cache.ts'
import { nouns, type Page } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { sayError } from '../toast.ts'
import { Act, Head } from '../ui/basics.tsx'
import { Failure, Skeleton } from '../ui/states.tsx'
import type { Entity } from '../values/entity.ts'
import { monthText, percentText, unitText } from '../values/figures.ts'
import { labelOf, moneyText, numberText } from '../values/format.ts'
import { wordsOf } from '../values/noun.ts'
import { toneOf } from '../values/tones.ts'

type Snapshot = { readonly [section: string]: { readonly [name: string]: Json } | string | null }

interface Metric {
  readonly name: string
  readonly value: number | null
  readonly unit: string | null
  readonly history: readonly { readonly date: string; readonly value: number | null }[]
}

const OVER_TIME = ['mrr', 'pipeline', 'deals_won', 'leads', 'tickets_open', 'churn']
const COUNTS = new Set(['deals_won', 'leads', 'tickets_open'])
const AMOUNTS = new Set(['mrr', 'arr', 'ltv', 'totalValue'])
const SHARES = new Set(['nrr', 'churn', 'conversionRate'])

/** The business in numbers: as of the time shown, and over the months before. */
export function MetricsPage() {
  const time = useSettled(asOf.value, 200)
  const snapshot = useData<Snapshot>(
    ['metrics', time],
    (signal) => request('GET', '/metrics', { query: { asOf: time }, signal }),
    { types: time === null ? ['*'] : [] },
  )
  const sections = Object.entries(snapshot.value ?? {}).filter(
    ([, numbers]) => typeof numbers === 'object' && numbers !== null,
  )
  const units: { readonly [section: string]: string | null | undefined } = {
    revenue: useMetric('mrr', time).value?.unit,
    pipeline: useMetric('pipeline', time).value?.unit,
  }
  const stages = (snapshot.value?.pipeline as { stages?: Json } | undefined)?.stages
  return (
    <>
      <Head title={t('Metrics')} about={t('Computed from all entries and their past')} />
      <Failure error={snapshot.error} onRetry={snapshot.reload} />
      {!snapshot.value && !snapshot.error && <Skeleton rows={6} />}
      <div class="sections">
        {sections.map(([name, numbers]) => (
          <section class="panel" key={name} aria-label={labelOf(name)}>
            <h2>{labelOf(name)}</h2>
            <dl class="numbers">
              {Object.entries(numbers as { [name: string]: Json })
                .filter(([, value]) => typeof value !== 'object' || value === null)
                .map(([key, value]) => (
                  <div key={key}>
                    <dt>{labelOf(key)}</dt>
                    <dd>
                      {typeof value !== 'number'
                        ? '—'
                        : SHARES.has(key)
                          ? percentText(value)
                          : AMOUNTS.has(key)
                            ? moneyText(value, units[name])
                            : numberText(value)}
                    </dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
      <div class="charts">
        {stages !== undefined && stages !== null && (
          <section class="panel">
            <h2>{t('Deals by stage')}</h2>
            {stagePoints(stages).length === 0 ? (
              <p class="hint">{asOf.value === null ? t('No deals yet.') : t('There were no deals at that time.')}</p>
            ) : (
              <RankChart title={t('Deals by stage')} points={stagePoints(stages)} />
            )}
          </section>
        )}
        {OVER_TIME.map((name) => (
          <Series key={name} name={name} time={time} />
        ))}
        <Funnels time={time} />
      </div>
    </>
  )
}

function useMetric(name: string, time: string | null) {
  return useData<Metric>(
    ['metric', name, time],
    mayRead('Metric') ? (signal) => request('GET', `/Metric/${name}`, { query: { asOf: time }, signal }) : null,
  )
}

function Series({ name, time }: { name: string; time: string | null }) {
  const metric = useMetric(name, time)
  if (!metric.value?.history) return null
  const points: Point[] = metric.value.history.map(({ date, value }) => ({
    label: monthText(date),
    value,
  }))
  const Chart = COUNTS.has(name) ? BarChart : LineChart
  return (
    <section class="panel">
      <h2>
        {labelOf(name)} <span class="unit">{unitText(metric.value.unit)}</span>
      </h2>
      <Chart title={labelOf(name)} points={points} />
    </section>
  )
}

function Funnels({ time }: { time: string | null }) {
  const funnels = useData<Page>(
    ['funnels', time],
    mayRead('Funnel') ? (signal) => request('GET', '/Funnel', { query: { limit: 20, asOf: time }, signal }) : null,
    { types: ['Funnel'] },
  )
  if (!funnels.value || funnels.value.results.length === 0) return null
  return (
    <>
      {funnels.value.results.map((funnel) => (
        <FunnelPanel key={funnel.$id} funnel={funnel} />
      ))}
    </>
  )
}

/** A funnel is counted on request: the counting is a verb with an event. */
function FunnelPanel({ funnel }: { funnel: Entity }) {
  const [steps, setSteps] = useState<readonly Step[] | null>(null)
  const analyze = () =>
    request<{ analysis: { steps: Step[] } }>('POST', `/Funnel/${funnel.$id}/analyze`).then(
      ({ analysis }) => setSteps(analysis.steps),
      sayError,
    )
  return (
    <section class="panel">
      <h2>
        <a href={href(['Funnel', funnel.$id])}>{String(funnel.name)}</a>
      </h2>
      {steps && <FunnelChart title={String(funnel.name)} steps={steps} />}
      {!steps && (
        <p class="hint">
          {typeof funnel.conversionRate === 'number'
            ? t('Last counted: {} came through.', percentText(funnel.conversionRate))
            : t('Not counted yet.')}
        </p>
      )}
      {mayChange(nouns.value.get('Funnel')) && <Act onRun={analyze}>{steps ? t('Count again') : t('Count')}</Act>}
    </section>
  )
}

function stagePoints(stages: Json): Point[] {
  const order = wordsOf(nouns.value.get('Deal')?.fields.stage)
  if (Array.isArray(stages)) {
    return stages.map((one) => {
      const stage = one as { stage?: string; name?: string; count?: number }
      const word = String(stage.stage ?? stage.name)
      return { label: labelOf(word), value: stage.count ?? 0, tone: toneOf(word, order) }
    })
  }
  return Object.entries(stages as { [stage: string]: Json })
    .sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))
    .map(([stage, value]) => ({
      label: labelOf(stage),
      tone: toneOf(stage, order),
      value: typeof value === 'number' ? value : ((value as { count?: number }).count ?? 0),
    }))
}
