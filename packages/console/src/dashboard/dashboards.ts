import type { Json } from '@tildebase/nouns'
import { asOf } from '../place.ts'
import { keyId, mayChange, mayRead } from '../service/access.ts'
import { type Data, useData } from '../service/cache.ts'
import { localDocuments, storeOf } from '../service/own-types.ts'
import { may } from '../service/rights.ts'
import { nouns, type Page } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { sayDone, write } from '../service/write.ts'
import { ensureType, keepDocuments } from '../settings/own-notations.ts'
import { t } from '../texts/text.ts'
import type { Entity } from '../values/entity.ts'
import { inSentence, labelOf } from '../values/format.ts'
import { plural } from '../values/noun.ts'

/** One number or chart of a dashboard. */
export interface Tile {
  /** The title that a person gave it. */
  readonly title?: string
  readonly source: 'count' | 'sum' | 'avg' | 'metric'
  /** The type that is counted, or the name of the metric. */
  readonly of: string
  /** The number field that is summed or averaged. */
  readonly field?: string
  /** The field whose values are the bars; a single number without one. */
  readonly group?: string | undefined
  readonly filter?: { readonly [field: string]: Json }
  readonly wide?: boolean
}

export interface Dashboard {
  readonly id: string
  readonly name: string
  readonly tiles: readonly Tile[]
  readonly isShared: boolean
  readonly version: number | undefined
}

/** The title of a tile: its own, or what it shows in the reader's language. */
export function titleOfTile(tile: Tile): string {
  if (tile.title) return tile.title
  const noun = tile.source === 'metric' ? undefined : nouns.value.get(tile.of)
  if (noun === undefined) return labelOf(tile.of)
  const what =
    tile.source === 'count' ? labelOf(noun.path) : t('{} of the {}', labelOf(tile.field ?? tile.source), plural(noun))
  return tile.group ? t('{} by {}', what, inSentence(tile.group.replace(/[.:].*/, ''))) : what
}

/** Whether the key may read what a tile shows. */
export function isVisible({ source, of }: Tile): boolean {
  return mayRead(source === 'metric' ? 'Metric' : of)
}

const TYPE = 'Dashboard'
const LOCAL = 'tildebase.dashboards'

export const dashboardStore = () => storeOf(TYPE)

/** The dashboards that people made, those of this browser included. */
export function useDashboards(): Data<readonly Dashboard[]> {
  const isThere = nouns.value.has(TYPE) && may('read', nouns.value.get(TYPE))
  return useData(
    ['dashboards', isThere],
    async (signal) => [...(isThere ? await stored(signal) : []), ...localDocuments<Dashboard>(LOCAL)],
    { types: [TYPE] },
  )
}

export async function createDashboard(name: string, tiles: readonly Tile[]): Promise<Dashboard> {
  if (dashboardStore() === 'browser') {
    const made = { id: `local-${Date.now()}`, name, tiles, isShared: false, version: undefined }
    keepDocuments(LOCAL, [...localDocuments<Dashboard>(LOCAL), made])
    return made
  }
  await ensureType(TYPE)
  const body = { name, tiles, shared: true, owner: keyId() }
  const { value, correlation } = await write<Entity>({ path: `/${TYPE}`, body, type: TYPE })
  sayDone(t('Dashboard “{}” created.', name), correlation)
  return dashboardOf(value)
}

/** Saves the tiles of a dashboard, in their order. Returns its new version. */
export async function saveTiles(dashboard: Dashboard, tiles: readonly Tile[]): Promise<number | undefined> {
  if (isLocal(dashboard)) {
    const all = localDocuments<Dashboard>(LOCAL)
    keepDocuments(
      LOCAL,
      all.map((one) => (one.id === dashboard.id ? { ...one, tiles } : one)),
    )
    return undefined
  }
  const path = `/${TYPE}/${dashboard.id}`
  const { version } = dashboard
  const { value } = await write<Entity>({ method: 'PUT', path, body: { tiles }, version, type: TYPE })
  return value.$version
}

export async function deleteDashboard(dashboard: Dashboard): Promise<void> {
  if (isLocal(dashboard)) {
    const all = localDocuments<Dashboard>(LOCAL)
    return keepDocuments(
      LOCAL,
      all.filter(({ id }) => id !== dashboard.id),
    )
  }
  const { correlation } = await write({ method: 'DELETE', path: `/${TYPE}/${dashboard.id}`, type: TYPE })
  sayDone(t('Dashboard “{}” deleted.', dashboard.name), correlation)
}

/** Whether to offer changes of a dashboard: it is kept in this browser, or the key may write it. */
export function mayEdit(dashboard: Dashboard): boolean {
  return asOf.value === null && (isLocal(dashboard) || mayChange(nouns.value.get(TYPE)))
}

export function isLocal(dashboard: Dashboard): boolean {
  return dashboard.id.startsWith('local-')
}

async function stored(signal: AbortSignal): Promise<Dashboard[]> {
  const { results } = await request<Page>('GET', `/${TYPE}`, { query: { sort: 'name', limit: 100 }, signal })
  return results.map(dashboardOf)
}

function dashboardOf(entity: Entity): Dashboard {
  return {
    id: entity.$id,
    name: String(entity.name),
    tiles: (Array.isArray(entity.tiles) ? entity.tiles : []) as unknown as Tile[],
    isShared: entity.shared !== false,
    version: entity.$version,
  }
}
