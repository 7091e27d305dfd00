import { may } from '../service/access.ts'
import { nouns } from '../service/schema.ts'
import { t } from '../texts/text.ts'
import type { Tile } from './dashboards.ts'

/** What a new dashboard begins with, as far as the key may read it. */
export function startTiles(): Tile[] {
  const tiles: Tile[] = [
    { title: t('Deals by stage'), source: 'count', of: 'Deal', group: 'stage', wide: true },
    // The metric and not a sum: it leaves out won and lost deals, here as on the page of metrics.
    { title: t('Pipeline'), source: 'metric', of: 'pipeline' },
    { title: 'MRR', source: 'metric', of: 'mrr' },
  ]
  return tiles.filter(({ source, of }) => source === 'metric' || may('read', nouns.value.get(of)))
}
