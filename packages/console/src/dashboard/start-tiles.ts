import { mayRead } from '../service/access.ts'
import { isVisible, type Tile } from './dashboards.ts'

/** What a new dashboard begins with, as far as the key may read it. */
export function startTiles(): Tile[] {
  const deals: Tile = { source: 'count', of: 'Deal', group: 'stage', wide: true }
  // The metric and not a sum: it leaves out won and lost deals, here as on the page of metrics.
  const pipeline: Tile = { source: 'metric', of: 'pipeline' }
  const revenue: Tile = { source: 'metric', of: 'mrr' }
  const tickets: Tile = { source: 'count', of: 'Ticket', group: 'status', wide: true }
  const tiles = [...(mayRead('Deal') ? [deals, pipeline] : [tickets]), ...(mayRead('Subscription') ? [revenue] : [])]
  return tiles.filter(isVisible)
}
