import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { attaching, shown as shownFile, uploads } from './files/state.ts'
import { useKeys } from './keyboard.ts'
import { lazy, lazyWindow } from './lazy.tsx'
import { exportJobs } from './list/export/export-jobs.ts'
import { EntitiesPage } from './list/list-page.tsx'
import { clash } from './parts/forms/clash.ts'
import { KeyBox } from './parts/frame/key-box.tsx'
import { isOpen, SETUP_PAGES, Side, WORK_PAGES } from './parts/frame/side.tsx'
import { ConnectionBar, PastBanner, TopBar } from './parts/frame/top-bar.tsx'
import { closeVerb, started } from './parts/verbs.tsx'
import { asOf, place } from './place.ts'
import { loadAccess, mayRead } from './service/access.ts'
import { AFTER_PAGE_MS, cache, useData, useSettled } from './service/cache.ts'
import { followLog, onEvent } from './service/live.ts'
import { loadNouns, nouns } from './service/schema.ts'
import { session } from './service/session.ts'
import { forgetSettings, loadSettings } from './service/settings.ts'
import { undoNewest } from './service/write.ts'
import { t } from './texts/text.ts'
import { sayError } from './toast.ts'
import { ConfirmDialog } from './ui/dialog.tsx'
import { Failure, Skeleton } from './ui/states.tsx'
import { Toasts } from './ui/toasts.tsx'
import { loadActors } from './values/actors.ts'
import { labelOf } from './values/format.ts'

const PAGES: { readonly [path: string]: preact.ComponentType } = {
  events: lazy(async () => (await import('./events/events-page.tsx')).EventsPage),
  changesets: lazy(async () => (await import('./changesets/changesets-page.tsx')).ChangesetsPage),
  asks: lazy(async () => (await import('./asks/asks-page.tsx')).AsksPage),
  bin: lazy(async () => (await import('./pages/bin.tsx')).BinPage),
  account: lazy(async () => (await import('./people/account.tsx')).AccountPage),
  people: lazy(async () => (await import('./people/people-page.tsx')).PeoplePage),
  roles: lazy(async () => (await import('./people/roles.tsx')).RolesPage),
  keys: lazy(async () => (await import('./people/keys.tsx')).KeysPage),
  metrics: lazy(async () => (await import('./pages/metrics.tsx')).MetricsPage),
  dashboards: lazy(async () => (await import('./daily.ts')).DashboardsPage),
  tenants: lazy(async () => (await import('./operator/tenants-page.tsx')).TenantsPage),
  settings: lazy(async () => (await import('./settings/settings-page.tsx')).SettingsPage),
  types: lazy(async () => (await import('./types/types-page.tsx')).TypesPage),
  query: lazy(async () => (await import('./pages/query.tsx')).QueryPage),
  agent: lazy(async () => (await import('./pages/agent.tsx')).AgentPage),
  integrations: lazy(async () => (await import('./integrations/integrations-page.tsx')).IntegrationsPage),
  import: lazy(async () => (await import('./import/import-page.tsx')).ImportPage),
  webhooks: lazy(async () => (await import('./webhooks/webhooks-page.tsx')).WebhooksPage),
}

/** A window that is not loaded yet shows nothing in its place. */
const nothing = () => null

const HomePage = lazy(async () => (await import('./daily.ts')).HomePage)
const EntityPage = lazy(async () => (await import('./daily.ts')).EntityPage)
const Closed = lazy(async () => (await import('./pages/closed.tsx')).ClosedPage)
const VerbDialog = lazyWindow(async () => (await import('./parts/forms/verb-dialog.tsx')).VerbDialog)
const Help = lazyWindow(async () => (await import('./parts/frame/help.tsx')).Help)
const Palette = lazyWindow(async () => (await import('./parts/frame/palette.tsx')).Palette)
const Exports = lazy(async () => (await import('./list/export/exports.tsx')).Exports, nothing)
const UploadList = lazy(async () => (await import('./files/upload-list.tsx')).UploadList, nothing)
const Viewer = lazy(async () => (await import('./files/viewer.tsx')).Viewer, nothing)
const ChooseField = lazy(async () => (await import('./files/choose-field.tsx')).ChooseField, nothing)
const ConflictDialog = lazy(async () => (await import('./parts/forms/conflict-dialog.tsx')).ConflictDialog, nothing)

/** The console: the key box, or the tenant that the key opens. */
export function App() {
  const mine = session.value
  // Another key is another page: nothing that was loaded with the one before is left.
  return mine ? <Tenant key={`${mine.tenant} ${mine.key}`} /> : <KeyBox />
}

function Tenant() {
  const [help, setHelp] = useState(false)
  const [palette, setPalette] = useState(false)
  const [menu, setMenu] = useState(false)
  const [seq, setSeq] = useState<number | null>(null)
  const ready = useData(['start'], async () => {
    const [{ log }] = await Promise.all([loadAccess(), loadNouns()])
    setSeq((known) => known ?? log.seq)
    // The types are drawn in the side bar first, so that keys and taps do not wait for the page as well.
    await new Promise((done) => setTimeout(done))
    return true
  })
  // The page asks for its own data meanwhile.
  const named = useData(['names'], ready.value ? () => Promise.all([loadActors(), loadSettings()]) : null)
  const from = useSettled(seq, AFTER_PAGE_MS)
  // A page that is left before it was painted leaves nothing for the next tenant, either.
  useLayoutEffect(
    () => () => {
      cache.clear()
      forgetSettings()
      document.title = 'Tildebase'
    },
    [],
  )
  useEffect(() => {
    if (from === null) return
    const control = new AbortController()
    followLog(from, control.signal).catch((reason) => control.signal.aborted || sayError(reason))
    return () => control.abort()
  }, [from])
  // A type that someone declares is there without a reload.
  useEffect(
    () =>
      onEvent(({ entityType }) => {
        if (entityType === 'Schema') void loadNouns()
        // People and keys that are new have their names at once.
        if (entityType === 'Setting') void loadSettings().catch(sayError)
        if (entityType === 'ApiKey' || entityType === 'User') void loadActors().catch(sayError)
      }),
    [],
  )
  const { path } = place.value
  const here = path.join('/')
  const shown = useRef(here)
  // With the drawing and not after it: a key may have moved the focus by then.
  useLayoutEffect(() => {
    // A choice in the menu is the end of choosing.
    setMenu(false)
    // Another page is read from its beginning, also by the keyboard.
    if (shown.current !== here && !document.querySelector('dialog[open]')) {
      document.getElementById('main')?.focus({ preventScroll: true })
      document.getElementById('main')?.scrollTo(0, 0)
    }
    shown.current = here
  }, [here])
  useEffect(() => {
    document.documentElement.toggleAttribute('data-past', asOf.value !== null)
  })
  useKeys({
    '?': () => setHelp(true),
    'mod+k': () => setPalette(true),
    'mod+z': undoNewest,
    t: () => document.querySelector<HTMLElement>('.time-bar input[type=range]')?.focus(),
  })
  return (
    <div class={`frame${menu ? ' menu-open' : ''}`}>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        {t('To the content')}
      </button>
      <Side isOpen={menu} onSearch={() => setPalette(true)} />
      {menu && <button type="button" class="veil" aria-label={t('Close the menu')} onClick={() => setMenu(false)} />}
      <div class="stage">
        <TopBar
          isMenuOpen={menu}
          onMenu={() => setMenu(!menu)}
          onSearch={() => setPalette(true)}
          onHelp={() => setHelp(true)}
        />
        <ConnectionBar />
        <PastBanner />
        {exportJobs.value.length > 0 && <Exports />}
        {uploads.value.length > 0 && <UploadList />}
        <main id="main" tabIndex={-1}>
          {!ready.value && <Failure error={ready.error} onRetry={ready.reload} />}
          {!ready.value && !ready.error && <Skeleton rows={8} />}
          <Failure error={named.error} onRetry={named.reload} />
          {ready.value && <CurrentPage />}
        </main>
      </div>
      {started.value && <VerbDialog onClose={() => closeVerb(false)} />}
      {attaching.value && <ChooseField />}
      {shownFile.value && <Viewer />}
      {clash.value && <ConflictDialog />}
      {palette && <Palette onClose={() => setPalette(false)} />}
      {help && <Help onClose={() => setHelp(false)} />}
      <ConfirmDialog />
      <Toasts />
    </div>
  )
}

function CurrentPage() {
  const [first, id] = place.value.path
  if (first === undefined) return <HomePage />
  const Page = Object.hasOwn(PAGES, first) ? PAGES[first] : undefined
  const listed = [...WORK_PAGES, ...SETUP_PAGES].find(({ path }) => path === first)
  if (Page && listed && !isOpen(listed)) return <Closed to={listed.label} />
  if (Page) return <Page />
  const noun = nouns.value.get(first)
  if (!noun) return <Closed to={first} isUnknown />
  if (!mayRead(noun.name)) return <Closed to={labelOf(noun.path)} />
  return id === undefined ? <EntitiesPage key={first} noun={noun} /> : <EntityPage key={id} noun={noun} id={id} />
}
