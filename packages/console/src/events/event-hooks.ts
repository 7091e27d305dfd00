import { useEffect, useRef, useState } from 'preact/hooks'
import { useData } from '../service/cache.ts'
import { onEvent } from '../service/live.ts'
import { type LoggedEvent, type LogNarrow, type LogPage, loadEvents, matches, streamed } from './event-log.ts'

const STEP = 50

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
