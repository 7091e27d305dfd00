import { useEffect, useRef, useState } from 'preact/hooks'
import { useData } from '../service/cache.ts'
import { onEvent } from '../service/live.ts'
import { hasWords, type LoggedEvent, type LogNarrow, type LogPage, loadEvents, matches, streamed } from './event-log.ts'

const STEP = 50
/** The most events of a request. */
const PAGE = 100
/** So many events with the words are looked for at a time. */
const FOUND = 25

/** The log under a pattern: the newest page, and older ones as they are asked for. */
export function useLog(pattern: string, time: string | null, narrow: LogNarrow) {
  const question = { pattern, time, narrow, limit: STEP }
  const narrowed = JSON.stringify(narrow)
  const first = useData<LogPage>(
    ['events', pattern, time, narrowed],
    (signal) => loadEvents({ ...question, cursor: null }, signal),
    {
      keep: false,
    },
  )
  const [older, setOlder] = useState<readonly LogPage[]>([])
  const [loading, setLoading] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  useEffect(() => setOlder([]), [pattern, time, narrowed])
  const last = older.at(-1) ?? first.value
  const more = () => {
    if (loading || !last?.cursor) return
    setLoading(true)
    loadEvents({ ...question, cursor: last.cursor }, new AbortController().signal)
      .then((page) => setOlder((old) => [...old, page]), setError)
      .finally(() => setLoading(false))
  }
  return {
    events: [...(first.value?.events ?? []), ...older.flatMap(({ events }) => events)],
    total: first.value?.total ?? null,
    hasMore: last?.cursor != null,
    error: first.error ?? error,
    loading,
    more,
    reload: first.reload,
  }
}

/** The events since the page was opened. While it is paused they wait. */
export function useLive(pattern: string, isOn: boolean, paused: boolean, { actor, record }: LogNarrow) {
  const [events, setEvents] = useState<readonly LoggedEvent[]>([])
  const [waiting, setWaiting] = useState(0)
  const held = useRef<LoggedEvent[]>([])
  const isPaused = useRef(paused)
  isPaused.current = paused
  useEffect(() => {
    setEvents([])
    held.current = []
    if (!isOn) return
    return onEvent((sent) => {
      const event = streamed(sent)
      if (!matches(pattern, event) || (actor !== '' && event.actor !== actor)) return
      if (record !== '' && event.entityId !== record) return
      if (isPaused.current) setWaiting(held.current.unshift(event))
      else setEvents((old) => [event, ...old])
    })
  }, [pattern, isOn, actor, record])
  useEffect(() => {
    if (paused) return
    const late = held.current
    held.current = []
    setEvents((old) => [...late, ...old])
    setWaiting(0)
  }, [paused])
  return { events, waiting }
}

/** How far a search for words in the log is. */
interface WordSearch {
  readonly found: readonly LoggedEvent[]
  readonly looked: number
  /** Where it continues; null at the beginning of the log. */
  readonly cursor: string | null
}

const UNSEARCHED: WordSearch = { found: [], looked: 0, cursor: null }

/** The events with some words, newest first: the whole log is looked through, until a page of them is found or people stop it. */
export function useWords(pattern: string, time: string | null, narrow: LogNarrow, words: string) {
  const question = JSON.stringify([pattern, time, narrow, words])
  const [search, setSearch] = useState<WordSearch>(UNSEARCHED)
  const [error, setError] = useState<Error | null>(null)
  // Each run looks for a page of events. Another question begins the first one.
  const [run, setRun] = useState({ question, goal: FOUND, isOn: true })
  const mine = run.question === question ? run : { question, goal: FOUND, isOn: true }
  const isBegun = run.question === question && search !== UNSEARCHED
  const isLooking =
    words !== '' &&
    mine.isOn &&
    error === null &&
    search.found.length < mine.goal &&
    !(isBegun && search.cursor === null)
  useEffect(() => {
    setSearch(UNSEARCHED)
    setError(null)
    setRun({ question, goal: FOUND, isOn: true })
  }, [question])
  useEffect(() => {
    if (words === '' || !run.isOn || run.question !== question) return
    const control = new AbortController()
    const look = async () => {
      let { found, looked, cursor } = search
      do {
        const asked = { pattern, time, narrow, cursor, limit: PAGE, total: false } as const
        const page = await loadEvents(asked, control.signal)
        found = [...found, ...page.events.filter((event) => hasWords(event, words))]
        looked += page.events.length
        cursor = page.cursor
        if (control.signal.aborted) return
        setSearch({ found, looked, cursor })
      } while (cursor !== null && found.length < run.goal)
    }
    look().catch((reason) => control.signal.aborted || setError(reason))
    return () => control.abort()
  }, [run])
  return {
    found: isBegun ? search.found : [],
    looked: isBegun ? search.looked : 0,
    hasMore: isBegun && search.cursor !== null,
    isLooking,
    error,
    more: () => {
      setError(null)
      setRun({ question, goal: search.found.length + FOUND, isOn: true })
    },
    stop: () => setRun({ ...mine, isOn: false }),
  }
}
