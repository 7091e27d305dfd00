import type { Json } from '@tildebase/nouns'
import { resolved } from '../list/filter/resolve.ts'
import { LineChart, type Point, RankChart } from '../parts/chart.tsx'
import { useData } from '../service/cache.ts'
import { nouns } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { Failure, Skeleton } from '../ui/states.tsx'
import { metricText, monthText } from '../values/figures.ts'
import { inSentence, isMoney, numberText, sumsText } from '../values/format.ts'
import { wordsOf } from '../values/noun.ts'
import { toneOf } from '../values/tones.ts'
import { type Tile, titleOfTile } from './dashboards.ts'

const MOST_BARS = 8

interface Shown {
  readonly number: string | null
  readonly bars: readonly Point[] | null
  readonly line: readonly Point[] | null
}

/** What a tile shows: a number, bars for groups, or a line over the months. */
export function TileView({ tile, time }: { tile: Tile; time: string | null }) {
  const shown = useData<Shown>(
    ['tile', tile, time],
    (signal) => (tile.source === 'metric' ? loadMetric(tile, time, signal) : loadGroups(tile, time, signal)),
    { types: time === null ? [tile.source === 'metric' ? '*' : tile.of] : [] },
  )
  if (shown.error && !shown.value) return <Failure error={shown.error} onRetry={shown.reload} />
  if (!shown.value) return <Waiting tile={tile} />
  const { number, bars, line } = shown.value
  return (
    <>
      {number !== null && <p class="tile-number">{number}</p>}
      {bars && <RankChart title={titleOfTile(tile)} points={bars} />}
      {line && <LineChart title={titleOfTile(tile)} points={line} />}
    </>
  )
}

/** The room that a tile will need, so that nothing moves when its numbers arrive. */
function Waiting({ tile }: { tile: Tile }) {
  const kind = tile.source === 'metric' ? 'both' : tile.group ? 'chart' : 'number'
  return (
    <div class={`tile-wait tile-wait-${kind}`}>
      <Skeleton rows={kind === 'number' ? 1 : 5} />
    </div>
  )
}

async function loadMetric(tile: Tile, time: string | null, signal: AbortSignal): Promise<Shown> {
  const metric = await request<{
    value: number | null
    unit: string | null
    history?: { date: string; value: number | null }[]
  }>('GET', `/Metric/${tile.of}`, { query: { asOf: time ?? undefined }, signal })
  const line = metric.history?.map(({ date, value }) => ({ label: monthText(date), value })) ?? null
  return { number: metric.value === null ? '—' : metricText(metric.value, metric.unit), bars: null, line }
}

async function loadGroups(tile: Tile, time: string | null, signal: AbortSignal): Promise<Shown> {
  const { of, source, field, group, filter } = tile
  const noun = nouns.value.get(of)
  const { results } = await request<{ results: { [name: string]: Json }[] }>('GET', `/${of}/aggregate`, {
    query: {
      group: group ?? (isMoney(field ?? '') && noun?.fields.currency ? 'currency' : undefined),
      [source === 'count' ? '' : source]: field,
      filter: filter && noun && Object.keys(filter).length > 0 ? resolved(filter, noun) : undefined,
      asOf: time ?? undefined,
    },
    signal,
  })
  const measure = (row: { [name: string]: Json }) =>
    source === 'count'
      ? Number(row.count)
      : Number((row[source] as { [name: string]: Json } | undefined)?.[field ?? ''] ?? 0)
  if (group) {
    const words = wordsOf(nouns.value.get(of)?.fields[group])
    const none = t('No {}', inSentence(group.replace(/[.:].*/, '')))
    if (group.endsWith(':month')) {
      const months = results
        .filter((row) => row[group] !== null)
        .sort((a, b) => String(a[group]).localeCompare(String(b[group])))
      const points = months.map((row) => ({ label: monthText(`${row[group]}-01`), value: measure(row) }))
      return { number: null, bars: points.slice(-MOST_BARS), line: null }
    }
    const points = results.map((row) => ({
      label: String(row[group] ?? none),
      value: measure(row),
      ...(words.length > 0 && { tone: toneOf(String(row[group]), words) }),
    }))
    const ordered = words.length > 0 ? points.sort((a, b) => words.indexOf(a.label) - words.indexOf(b.label)) : points
    return { number: null, bars: ordered.slice(0, MOST_BARS), line: null }
  }
  const isAmount = isMoney(field ?? '')
  const parts = results.map((row) => ({ currency: row.currency, sum: measure(row) }))
  return { number: isAmount ? sumsText(parts) : numberText(parts[0]?.sum ?? 0), bars: null, line: null }
}
