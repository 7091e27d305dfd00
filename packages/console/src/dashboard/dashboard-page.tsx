import '../../style/pages/charts.css'
import { useRef, useState } from 'preact/hooks'
import { Star } from '../parts/star.tsx'
import { asOf, go, place } from '../place.ts'
import { useSettled } from '../service/cache.ts'
import { t } from '../texts/text.ts'
import { sayError } from '../toast.ts'
import { Head } from '../ui/basics.tsx'
import { NameDialog } from '../ui/form-dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { EmptyState, Failure, Skeleton } from '../ui/states.tsx'
import {
  createDashboard,
  type Dashboard,
  dashboardStore,
  deleteDashboard,
  isLocal,
  isVisible,
  mayEdit,
  saveTiles,
  type Tile,
  titleOfTile,
  useDashboards,
} from './dashboards.ts'
import { startTiles } from './start-tiles.ts'
import { TileDialog } from './tile-dialog.tsx'
import { TileView } from './tile-view.tsx'

/** Numbers and charts that people arrange themselves, as of the time shown. */
export function DashboardsPage() {
  const dashboards = useDashboards()
  const [naming, setNaming] = useState(false)
  const list = dashboards.value ?? []
  const current = list.find(({ id }) => id === place.value.path[1]) ?? list[0]
  const canMake = asOf.value === null
  return (
    <>
      <Head
        title={current?.name ?? t('Dashboards')}
        about={current && isLocal(current) ? t('Kept in this browser') : undefined}
      >
        {current && <Star label={current.name} />}
        {list.length > 1 && (
          <Menu
            label={t('Dashboards')}
            icon="grid"
            items={list.map((one) => ({
              label: one.name,
              chosen: one === current,
              onSelect: () => go(['dashboards', one.id]),
            }))}
          />
        )}
        {canMake && (
          <button type="button" class={list.length === 0 ? 'primary' : ''} onClick={() => setNaming(true)}>
            <Icon name="plus" /> {t('New dashboard')}
          </button>
        )}
      </Head>
      <Failure error={dashboards.error} onRetry={dashboards.reload} />
      {!dashboards.value && !dashboards.error && <Skeleton rows={6} />}
      {dashboards.value && list.length === 0 && (
        <EmptyState icon="grid" title={t('No dashboards yet')}>
          <p>{t('A dashboard shows counts, sums and metrics of your choice, now or at any time.')}</p>
        </EmptyState>
      )}
      {current && (
        <Tiles key={current.id} dashboard={current} canEdit={mayEdit(current)} onChanged={dashboards.reload} />
      )}
      {naming && (
        <NameDialog
          title={t('New dashboard')}
          submit={t('Create')}
          onClose={() => setNaming(false)}
          onName={async (name) => {
            const made = await createDashboard(name, startTiles())
            setNaming(false)
            dashboards.reload()
            go(['dashboards', made.id])
          }}
        >
          {dashboardStore() === 'browser' && (
            <p class="hint">
              {t('You may not save dashboards for everyone, so this one is kept in this browser only.')}
            </p>
          )}
        </NameDialog>
      )}
    </>
  )
}

function Tiles(props: { dashboard: Dashboard; canEdit: boolean; onChanged: () => void }) {
  const { dashboard, canEdit } = props
  const [editing, setEditing] = useState<number | null>(null)
  const time = useSettled(asOf.value, 200)
  const [tiles, save] = useTiles(dashboard, props.onChanged)
  const move = (at: number, step: number) => {
    const next = [...tiles]
    const [one] = next.splice(at, 1)
    next.splice(at + step, 0, one!)
    save(next)
  }
  return (
    <>
      <div class="tiles">
        {tiles.map(
          (tile, at) =>
            isVisible(tile) && (
              <section
                class={`panel tile${tile.wide ? ' wide' : ''}`}
                key={`${at} ${titleOfTile(tile)}`}
                aria-label={titleOfTile(tile)}
              >
                <div class="panel-head">
                  <h2>{titleOfTile(tile)}</h2>
                  {canEdit && (
                    <Menu
                      class="quiet icon-only"
                      label={<Icon name="more" />}
                      name={t('Actions for {}', titleOfTile(tile))}
                      items={[
                        { label: t('Edit…'), icon: 'edit', onSelect: () => setEditing(at) },
                        ...(at > 0
                          ? [{ label: t('Move left'), icon: 'left', onSelect: () => move(at, -1) } as const]
                          : []),
                        ...(at < tiles.length - 1
                          ? [{ label: t('Move right'), icon: 'right', onSelect: () => move(at, 1) } as const]
                          : []),
                        {
                          label: tile.wide ? t('Make narrow') : t('Make wide'),
                          icon: 'columns',
                          onSelect: () => save(tiles.map((one, n) => (n === at ? { ...one, wide: !one.wide } : one))),
                        },
                        {
                          label: t('Remove'),
                          icon: 'bin',
                          danger: true,
                          onSelect: () => save(tiles.filter((_, n) => n !== at)),
                        },
                      ]}
                    />
                  )}
                </div>
                <TileView tile={tile} time={time} />
                {time !== null && place.value.query.get('compare') !== null && (
                  <div class="tile-now">
                    <h3>{t('Now')}</h3>
                    <TileView tile={tile} time={null} />
                  </div>
                )}
              </section>
            ),
        )}
      </div>
      {canEdit && (
        <div class="actions">
          <button type="button" onClick={() => setEditing(-1)}>
            <Icon name="plus" /> {t('Add a tile')}
          </button>
          <Menu
            class="quiet icon-only"
            label={<Icon name="more" />}
            name={t('Dashboard actions')}
            items={[
              {
                label: t('Delete this dashboard'),
                icon: 'bin',
                danger: true,
                onSelect: () => deleteDashboard(dashboard).then(() => go(['dashboards']), sayError),
              },
            ]}
          />
        </div>
      )}
      {editing !== null && (
        <TileDialog
          tile={tiles[editing] ?? null}
          onClose={() => setEditing(null)}
          onSave={(tile) => save(editing < 0 ? [...tiles, tile] : tiles.map((one, n) => (n === editing ? tile : one)))}
        />
      )}
    </>
  )
}

/** The tiles as people arrange them. Changes are saved one after the other, each with the version that the last one made. */
function useTiles(dashboard: Dashboard, onChanged: () => void) {
  const [tiles, setTiles] = useState<readonly Tile[]>(dashboard.tiles)
  const [seen, setSeen] = useState(dashboard.tiles)
  const version = useRef(dashboard.version)
  const isRunning = useRef(false)
  const next = useRef<readonly Tile[] | null>(null)
  // News are those of others: what is being saved, or was saved since the dashboard was read, is here already.
  const isNew = !isRunning.current && (dashboard.version ?? 0) >= (version.current ?? 0)
  if (isNew) version.current = dashboard.version
  if (isNew && JSON.stringify(seen) !== JSON.stringify(dashboard.tiles)) {
    setSeen(dashboard.tiles)
    setTiles(dashboard.tiles)
  }
  const run = async () => {
    isRunning.current = true
    try {
      for (let wanted = next.current; wanted !== null; wanted = next.current) {
        next.current = null
        version.current = await saveTiles({ ...dashboard, version: version.current }, wanted)
      }
    } catch (reason) {
      next.current = null
      sayError(reason)
    }
    isRunning.current = false
    onChanged()
  }
  const save = (wanted: readonly Tile[]) => {
    setTiles(wanted)
    next.current = wanted
    if (!isRunning.current) void run()
  }
  return [tiles, save] as const
}
