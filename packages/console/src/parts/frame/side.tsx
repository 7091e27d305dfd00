import type { ComponentChildren } from 'preact'
import { forgetDrafts, mayLeave } from '../../drafts.ts'
import { favourites } from '../../favourites.ts'
import { useAllViews } from '../../list/views.ts'
import { href, place } from '../../place.ts'
import { mayAdminister, mayDeclare, mayRead, mayWrite, personId } from '../../service/access.ts'
import { AFTER_PAGE_MS, useData, useSettled } from '../../service/cache.ts'
import { useFilledTypes } from '../../service/counts.ts'
import { may } from '../../service/rights.ts'
import { byDomain, nouns } from '../../service/schema.ts'
import { request } from '../../service/service.ts'
import { isOperator, session, signOut } from '../../service/session.ts'
import { tenantName } from '../../service/settings.ts'
import { t } from '../../texts/text.ts'
import { Icon, type IconName, Logo } from '../../ui/icon.tsx'
import { hasSide } from '../../ui/narrow.ts'
import { TypeIcon } from '../../ui/type-icon.tsx'
import { actorName } from '../../values/actors.ts'
import { initialsOf, labelOf, numberText } from '../../values/format.ts'
import type { Noun } from '../../values/noun.ts'

interface SidePage {
  readonly path: string
  readonly label: string
  readonly icon: IconName
  /** The type that the page is about: without the right to read it the page is closed. */
  readonly reads?: string
  readonly shown?: () => boolean
}

/** What metrics are computed from. */
const MEASURED = ['Deal', 'Lead', 'Subscription', 'Ticket', 'Event']

/** The pages for daily work, and those for setting a tenant up. */
export const WORK_PAGES: readonly SidePage[] = [
  { path: '', label: t('Home'), icon: 'home' },
  { path: 'dashboards', label: t('Dashboards'), icon: 'grid' },
  { path: 'metrics', label: t('Metrics'), icon: 'chart', shown: () => MEASURED.some(mayRead) },
  { path: 'asks', label: t('Questions'), icon: 'help' },
  { path: 'changesets', label: t('Proposals'), icon: 'inbox' },
  { path: 'events', label: t('Events'), icon: 'pulse', reads: 'Event' },
  { path: 'bin', label: t('Bin'), icon: 'bin', reads: 'Event' },
]
export const SETUP_PAGES: readonly SidePage[] = [
  { path: 'query', label: t('Query'), icon: 'code' },
  { path: 'agent', label: t('Agents'), icon: 'bot' },
  { path: 'import', label: t('Import'), icon: 'upload', shown: mayWrite },
  { path: 'integrations', label: t('Connections'), icon: 'hook', reads: 'Integration' },
  { path: 'types', label: t('Types'), icon: 'shape', shown: mayDeclare },
  { path: 'webhooks', label: t('Webhooks'), icon: 'hook', reads: 'Webhook' },
  { path: 'settings', label: t('Settings'), icon: 'sliders' },
  { path: 'account', label: t('Your account'), icon: 'person', shown: () => session.value?.csrf !== undefined },
  { path: 'people', label: t('People'), icon: 'people', reads: 'User', shown: () => mayAdminister('User') },
  { path: 'roles', label: t('Roles'), icon: 'shield', shown: () => mayAdminister('User') },
  {
    path: 'tenants',
    label: t('Tenants'),
    icon: 'grid',
    shown: () => session.value !== null && isOperator(session.value),
  },
  { path: 'keys', label: t('API keys'), icon: 'key', reads: 'ApiKey' },
]

/** Whether the key opens a page, and whether the page is offered to it. */
export function isOpen({ reads }: Pick<SidePage, 'reads'>): boolean {
  return reads === undefined || mayRead(reads)
}

export function isOffered(page: SidePage): boolean {
  return isOpen(page) && page.shown?.() !== false
}

/** So many areas need no folding. */
const FEW = 3

/** Types that have their own page, or that the console uses internally. */
export const HIDDEN_TYPES = new Set(['ApiKey', 'Webhook', 'View', 'Dashboard', 'Changeset', 'Setting'])

/** The way around. Its parts draw themselves again one by one, and not for each answer that the page gets. */
export function Side({ isOpen, onSearch }: { isOpen: boolean; onSearch: () => void }) {
  return (
    <nav class="side" id="side" aria-label={t('Console')}>
      <Brand />
      <button type="button" class="side-search" onClick={onSearch}>
        <Icon name="search" /> {t('Search')} <kbd>Ctrl K</kbd>
      </button>
      <Ways isOpen={isOpen} />
    </nav>
  )
}

function Ways({ isOpen }: { isOpen: boolean }) {
  const isLater = useSettled(nouns.value.size > 0, AFTER_PAGE_MS)
  // Where they are behind the button of the menu, the page comes first.
  if (!isOpen && !hasSide.value && !isLater) return null
  return (
    <>
      <ul>
        <Pages list={WORK_PAGES} />
      </ul>
      <Favourites />
      <Views />
      <Areas />
      <SetUp />
      <Me />
      <button type="button" class="quiet leave" onClick={() => void leave()}>
        <Icon name="out" /> {leaveLabel()}
      </button>
    </>
  )
}

function Brand() {
  return (
    <div class="brand">
      <Logo />
      <span title={session.value?.tenant}>{tenantName() ?? session.value?.tenant}</span>
    </div>
  )
}

function Pages({ list }: { list: readonly SidePage[] }) {
  return list
    .filter(isOffered)
    .map(({ path, label, icon }) => <Entry key={path} path={path} label={label} icon={icon} />)
}

function Fold({ label, open = true, children }: { label: string; open?: boolean; children: ComponentChildren }) {
  return (
    <details open={open}>
      <summary>{label}</summary>
      <ul>{children}</ul>
    </details>
  )
}

function Favourites() {
  if (favourites().length === 0) return null
  return (
    <Fold label={t('Favourites')}>
      {favourites().map(({ label, path, query }) => (
        <Line key={href(path, query)} to={href(path, query)} label={label} icon="star" isHere={isAt(path, query)} />
      ))}
    </Fold>
  )
}

function Views() {
  const views = useAllViews().value ?? []
  if (views.length === 0) return null
  return (
    <Fold label={t('Views')}>
      {views.map(({ id, name, type, look }) => (
        <Line
          key={id}
          to={href([type], { ...look, view: id })}
          label={name}
          icon="bookmark"
          isHere={place.value.query.get('view') === id}
        />
      ))}
    </Fold>
  )
}

/** The types by area; those without entries are apart. */
function Areas() {
  const here = place.value.path[0] ?? ''
  const types = [...nouns.value.values()].filter((noun) => may('read', noun) && !HIDDEN_TYPES.has(noun.name))
  const filled = useFilledTypes(types)
  const areas = new Set(types.map(({ domain }) => domain))
  // The first area, and all of a role that has few, are there at once.
  const isMain = (domain: string) => domain === 'crm' || areas.size <= FEW
  const isShown = (noun: Noun) => filled === null || filled.has(noun.name) || noun.name === here || isMain(noun.domain)
  const empty = types.filter((noun) => !isShown(noun))
  const entries = (list: readonly Noun[]) =>
    list.map(({ name, path }) => <Entry key={name} path={name} label={labelOf(path)} type={name} />)
  return (
    <>
      {byDomain(types.filter(isShown)).map(([domain, group]) => (
        <Fold key={domain} label={labelOf(domain)} open={isMain(domain) || group.some(({ name }) => name === here)}>
          {entries(group)}
        </Fold>
      ))}
      {empty.length > 0 && (
        <Fold label={t('Types without entries')} open={false}>
          {entries(empty)}
        </Fold>
      )}
    </>
  )
}

function SetUp() {
  return (
    <Fold label={t('Set up')} open={SETUP_PAGES.some(({ path }) => path === place.value.path[0])}>
      <Pages list={SETUP_PAGES} />
    </Fold>
  )
}

function Me() {
  const me = personId()
  if (me === null) return null
  return (
    <a class="me" href={href(['account'])} title={t('Your account')}>
      <span class="initials" aria-hidden="true">
        {initialsOf(actorName(me))}
      </span>
      {actorName(me)}
    </a>
  )
}

/** How many changesets wait for a decision now. */
function OpenChangesets() {
  const isAllowed = useSettled(mayRead('Changeset'), AFTER_PAGE_MS)
  const found = useData<{ count: number }>(
    ['open changesets'],
    isAllowed ? (signal) => request('GET', '/Changeset/count', { query: { filter: { state: 'Open' } }, signal }) : null,
    { types: ['Changeset'] },
  )
  const count = found.value?.count ?? 0
  return count > 0 ? <span class="count">{numberText(count)}</span> : null
}

/** Whether the page shows this place. */
function isAt(path: readonly string[], query: { readonly [name: string]: string }): boolean {
  const { path: here, query: shown } = place.value
  return here.join('/') === path.join('/') && Object.entries(query).every(([name, value]) => shown.get(name) === value)
}

/** The name of what ends the session. */
export const leaveLabel = () => (session.value?.csrf ? t('Sign out') : t('Leave'))

/** Ends the session. Drafts of this tab are not for the next person. */
export async function leave(): Promise<void> {
  if (!(await mayLeave())) return
  forgetDrafts()
  await signOut()
}

interface Shown {
  readonly label: string
  readonly icon?: IconName
  /** The type whose list it opens. */
  readonly type?: string
}

/** The way to a page or a list. It reads the place itself: with the same name it is drawn again only in another place. */
function Entry({ path, ...shown }: Shown & { path: string }) {
  const isHere = (place.value.path[0] ?? '') === path
  return (
    <Line to={href(path === '' ? [] : [path])} isHere={isHere} {...shown}>
      {path === 'changesets' && <OpenChangesets />}
    </Line>
  )
}

function Line(props: Shown & { to: string; isHere: boolean; children?: ComponentChildren }) {
  const { to, label, icon, type, isHere, children } = props
  return (
    <li>
      <a href={to} aria-current={isHere ? 'page' : undefined}>
        {icon && <Icon name={icon} />}
        {type && <TypeIcon type={type} />}
        {label}
        {children}
      </a>
    </li>
  )
}
