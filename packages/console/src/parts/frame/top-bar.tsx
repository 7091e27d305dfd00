import { useEffect, useState } from 'preact/hooks'
import { asOf, href, look, place, travel } from '../../place.ts'
import { connected, lostAt } from '../../service/live.ts'
import { nouns } from '../../service/schema.ts'
import { pending } from '../../service/write.ts'
import { t } from '../../texts/text.ts'
import { Icon } from '../../ui/icon.tsx'
import { agoText, momentText } from '../../values/format.ts'
import { TimeBar } from './time-bar.tsx'

/** The bar above every page: the way to the menu and to search, and the control of time. */
export function TopBar(props: { isMenuOpen: boolean; onMenu: () => void; onSearch: () => void; onHelp: () => void }) {
  return (
    <header class="top">
      <button
        type="button"
        class="quiet icon-only burger"
        aria-label={t('Menu')}
        aria-expanded={props.isMenuOpen}
        aria-controls="side"
        onClick={props.onMenu}
      >
        <Icon name="menu" />
      </button>
      <TimeBar />
      <Pending />
      <button
        type="button"
        class="quiet icon-only top-search"
        aria-label={t('Search and commands')}
        onClick={props.onSearch}
      >
        <Icon name="search" />
      </button>
      <button type="button" class="quiet icon-only" aria-label={t('Keyboard help')} onClick={props.onHelp}>
        <Icon name="help" />
      </button>
    </header>
  )
}

/** Says that writes are on their way. */
function Pending() {
  const count = pending.value
  return (
    <span class="pending" role="status">
      {count > 0 && (count === 1 ? t('Saving…') : t('Saving {}…', count))}
    </span>
  )
}

/** Says that the page shows the past, and leads back. */
export function PastBanner() {
  const time = asOf.value
  if (time === null) return null
  return (
    <div class="past" role="status">
      <span>
        <Icon name="clock" /> <span class="said">{t('You are in the past: everything is shown as of')}</span>{' '}
        <strong>{momentText(time)}</strong> ({agoText(time)}).{' '}
        <span class="wide-only">{t('Nothing can be changed here.')}</span>
      </span>
      <span class="actions">
        <CompareButton time={time} />
        <button type="button" onClick={() => travel(null)}>
          {t('Back to now')}
        </button>
      </span>
    </div>
  )
}

/** Shows what changed between then and now: on the page itself, or in the log where a page has no comparison. */
function CompareButton({ time }: { time: string }) {
  const { path, query } = place.value
  const first = path[0] ?? ''
  if (!nouns.value.has(first) && first !== 'dashboards') {
    return (
      <a class="button" href={href(['events'], { from: time.slice(0, 10), asOf: null })}>
        {t('What happened since')}
      </a>
    )
  }
  const isOn = query.get('compare') !== null
  return (
    <button type="button" aria-pressed={isOn} onClick={() => look({ compare: isOn ? null : '1' })}>
      {t('What changed since')}
    </button>
  )
}

/** Says that the connection is lost. What was loaded stays on the page. */
export function ConnectionBar() {
  const since = lostAt.value
  const [, tick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 10_000)
    return () => clearInterval(timer)
  }, [])
  if (connected.value !== false || since === null) return null
  return (
    <div class="offline" role="status">
      <span class="pulse" />{' '}
      {t(
        'No connection since {}. The page shows what was loaded and connects again automatically.',
        agoText(new Date(since).toISOString()),
      )}
    </div>
  )
}
