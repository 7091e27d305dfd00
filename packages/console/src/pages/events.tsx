import { useEffect, useRef, useState } from 'preact/hooks'
import { actorName } from '../actors.ts'
import { ask } from '../api.ts'
import { changesOf } from '../diff.ts'
import { clockText, dayText } from '../format.ts'
import { useKeys } from '../keyboard.ts'
import { Empty, Head, JsonText, Trouble } from '../parts/basics.tsx'
import { Changes } from '../parts/changes.tsx'
import { asOf, go, href, look, place, travel } from '../place.ts'
import { nouns, titleOf } from '../schema.ts'
import { follow, type LogEvent } from '../tail.ts'
import { useCalm } from '../use.ts'

const KEPT = 500
const DAY = 86_400_000

/** What happens in the tenant, while it happens. */
export function EventsPage() {
  const type = place.value.query.get('type') ?? ''
  const isPattern = type.trim() === '' || /[.*]/.test(type) || nouns.value.has(type.trim())
  const [words, setWords] = useState('')
  const [paused, setPaused] = useState(false)
  const { events, waiting, isOpen, error } = useTail(
    useCalm(isPattern ? type.trim() : '', 300),
    paused,
    useCalm(asOf.value, 200),
  )
  const search = useRef<HTMLInputElement>(null)
  useKeys({
    '/': () => search.current?.focus(),
    p: () => setPaused(!paused),
    Escape: () => (document.activeElement === search.current ? search.current?.blur() : go([])),
  })
  const shown =
    words === '' ? events : events.filter((event) => JSON.stringify(event).toLowerCase().includes(words.toLowerCase()))
  return (
    <>
      <Head
        title="Events"
        about={asOf.value ? 'The day before the time shown' : 'Every verb of the tenant, as it happens'}
      >
        {asOf.value === null && <Lamp isOpen={isOpen} paused={paused} />}
        {asOf.value === null && (
          <button type="button" aria-pressed={paused} onClick={() => setPaused(!paused)}>
            {paused ? `Go on${waiting > 0 ? ` · ${waiting} waiting` : ''}` : 'Pause'}
          </button>
        )}
      </Head>
      <search class="finder">
        <input
          aria-label="Type or pattern"
          class="code"
          placeholder="Contact, *.created, Deal.*"
          aria-invalid={!isPattern}
          value={type}
          onInput={(event) => look({ type: event.currentTarget.value || null })}
        />
        <input
          ref={search}
          type="search"
          aria-label="Words in the events"
          placeholder="Words in the events"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        <kbd>/</kbd>
      </search>
      <Trouble error={error} />
      {shown.length === 0 && !error && (
        <Empty>
          {events.length === 0
            ? 'Nothing in the last day. What happens next shows up here.'
            : 'No event has these words.'}
        </Empty>
      )}
      <ol class="tail">
        {shown.map((event) => (
          <Line key={event.seq} event={event} />
        ))}
      </ol>
    </>
  )
}

function Lamp({ isOpen, paused }: { isOpen: boolean; paused: boolean }) {
  const word = paused ? 'Paused' : isOpen ? 'Live' : 'Connecting'
  return <span class={`lamp ${word.toLowerCase()}`}>{word}</span>
}

function Line({ event }: { event: LogEvent }) {
  const [open, setOpen] = useState(false)
  const [type, name] = event.type.split('.')
  return (
    <li>
      <details onToggle={(toggled) => setOpen(toggled.currentTarget.open)}>
        <summary>
          <time dateTime={event.timestamp} title={`${dayText(event.timestamp)} ${event.timestamp}`}>
            {clockText(event.timestamp)}
          </time>
          <span class="seq">{event.seq}</span>
          <span class="event-type">
            {type}.<b>{name}</b>
          </span>
          <span class="event-title">{titleOf(event.data ?? {})}</span>
          <span class="event-actor" title={event.actor}>
            {actorName(event.actor)}
          </span>
        </summary>
        {open && (
          <div class="event-body">
            <p>
              <a href={href([event.entityType, event.entityId])}>Open {event.entityId}</a>{' '}
              <button type="button" class="quiet" onClick={() => travel(event.timestamp)}>
                See this moment
              </button>
            </p>
            {event.previous && (
              <Changes
                type={event.entityType}
                changes={changesOf({ data: event.data, previous: event.previous, verb: event.verb })}
              />
            )}
            <JsonText value={event} label={`Event ${event.seq}`} />
          </div>
        )}
      </details>
    </li>
  )
}

/** The last day of the log, newest first, and what follows it. In the past there is no more to follow. */
function useTail(type: string, paused: boolean, time: string | null) {
  const [events, setEvents] = useState<readonly LogEvent[]>([])
  const [isOpen, setOpen] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const [waiting, setWaiting] = useState(0)
  const held = useRef<LogEvent[]>([])
  const isPaused = useRef(paused)
  isPaused.current = paused
  const show = (more: readonly LogEvent[]) => setEvents((old) => [...[...more].reverse(), ...old].slice(0, KEPT))
  useEffect(() => {
    if (paused) return
    show(held.current)
    held.current = []
    setWaiting(0)
  }, [paused])
  useEffect(() => {
    const control = new AbortController()
    setEvents([])
    setError(null)
    held.current = []
    const run = async () => {
      const past = await lastDay(type, time, control.signal)
      show(past.results)
      if (time !== null) return
      for await (const event of follow(type, past.cursor, control.signal, setOpen)) {
        if (isPaused.current) setWaiting(held.current.push(event))
        else show([event])
      }
    }
    run().catch((reason: Error) => {
      if (!control.signal.aborted) setError(reason)
    })
    return () => control.abort()
  }, [type, time])
  return { events, waiting, isOpen, error }
}

async function lastDay(type: string, time: string | null, signal: AbortSignal) {
  const end = time === null ? Date.now() : Date.parse(time)
  const since = new Date(end - DAY).toISOString()
  const results: LogEvent[] = []
  let cursor: string | null = null
  // The stream runs oldest first: the newest of a busy day are some pages on.
  for (let turn = 0; turn < 20; turn += 1) {
    const page: { results: LogEvent[]; hasMore: boolean; cursor: string | number } = await ask('GET', '/events', {
      query: { limit: 1_000, type: type || null, ...(cursor === null ? { since } : { cursor }) },
      signal,
    })
    results.push(...page.results.filter(({ timestamp }) => Date.parse(timestamp) <= end))
    cursor = String(page.cursor)
    if (!page.hasMore || page.results.some(({ timestamp }) => Date.parse(timestamp) > end)) break
  }
  return { results: results.slice(-KEPT), cursor }
}
