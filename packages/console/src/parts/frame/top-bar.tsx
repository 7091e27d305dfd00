import { useEffect, useState } from 'preact/hooks'
import { asOf, travel } from '../../place.ts'
import { useData } from '../../service/cache.ts'
import { connected, lostAt } from '../../service/live.ts'
import { nouns } from '../../service/schema.ts'
import { request } from '../../service/service.ts'
import { pending } from '../../service/write.ts'
import { Icon, Logo } from '../../ui/icon.tsx'
import { agoText, fromLocalInput, localInput, momentText } from '../../values/format.ts'

const STEPS = 1_000

/** The bar above every page: the way to the menu and to search, and the control of time. */
export function TopBar(props: { isMenuOpen: boolean; onMenu: () => void; onSearch: () => void; onHelp: () => void }) {
  return (
    <header class="top">
      <button
        type="button"
        class="quiet icon-only burger"
        aria-label="Menu"
        aria-expanded={props.isMenuOpen}
        aria-controls="side"
        onClick={props.onMenu}
      >
        <Logo />
      </button>
      <TimeBar />
      <Pending />
      <button
        type="button"
        class="quiet icon-only top-search"
        aria-label="Search and commands"
        onClick={props.onSearch}
      >
        <Icon name="search" />
      </button>
      <button type="button" class="quiet icon-only" aria-label="Keyboard help" onClick={props.onHelp}>
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
      {count > 0 && (count === 1 ? 'Saving…' : `Saving ${count}…`)}
    </span>
  )
}

/** Types whose events keep their own times when a past is imported next to them. */
const OWN_TYPES = ['ApiKey', 'User', 'AccessRole', 'Schema', 'Hook', 'Webhook', 'Workflow', 'Integration', 'View']

/** The earliest time of the tenant: its first event, or the first one of a past that was imported after that. */
async function firstTime(signal: AbortSignal): Promise<number> {
  const types = [...nouns.value.keys()].filter((name) => !OWN_TYPES.includes(name)).join(',')
  const firsts = await Promise.all(
    [{}, { type: types }].map((query) =>
      request<{ results: { timestamp: string }[] }>('GET', '/events', {
        query: { limit: 1, total: false, ...query },
        signal,
      }),
    ),
  )
  const times = firsts.flatMap(({ results }) => results.map(({ timestamp }) => Date.parse(timestamp)))
  return times.length === 0 ? Date.now() - 86_400_000 : Math.min(...times)
}

/** The one control of time: the whole page shows the moment it is set to. */
function TimeBar() {
  const time = asOf.value
  const [now, setNow] = useState(() => Date.now())
  const known = nouns.value.size
  const first = useData<number>(['first event', known], known === 0 ? null : firstTime, { types: ['Schema'] })
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000)
    return () => clearInterval(timer)
  }, [])
  const start = first.value ?? now - 86_400_000
  const span = Math.max(now - start, 1_000)
  const at = time === null ? STEPS : Math.round(((Date.parse(time) - start) / span) * STEPS)
  const slide = (step: number) => travel(step >= STEPS ? null : new Date(start + (step / STEPS) * span).toISOString())
  return (
    <div class="time-bar">
      <button
        type="button"
        class={`now${time === null ? ' on' : ''}`}
        aria-pressed={time === null}
        onClick={() => travel(null)}
      >
        Now
      </button>
      <input
        type="range"
        aria-label="Time"
        aria-valuetext={time === null ? 'Now' : momentText(time)}
        min={0}
        max={STEPS}
        value={at}
        onInput={(event) => slide(Number(event.currentTarget.value))}
      />
      <input
        type="datetime-local"
        aria-label="Exact time"
        step="1"
        value={localInput(time ?? new Date(now).toISOString())}
        onChange={(event) => travel(fromLocalInput(event.currentTarget.value))}
      />
    </div>
  )
}

/** Says that the page shows the past, and leads back. */
export function PastBanner() {
  const time = asOf.value
  if (time === null) return null
  return (
    <div class="past" role="status">
      <span>
        <Icon name="clock" /> You are in the past: everything is shown as of <strong>{momentText(time)}</strong> (
        {agoText(time)}). Nothing can be changed here.
      </span>
      <button type="button" onClick={() => travel(null)}>
        Back to now
      </button>
    </div>
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
      <span class="pulse" /> No connection since {agoText(new Date(since).toISOString())}. The page shows what was
      loaded and connects again automatically.
    </div>
  )
}
