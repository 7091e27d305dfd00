import { signal } from '@preact/signals'
import type { EventRecord } from '@tildebase/client'
import { forgetLost } from '../toast.ts'
import { cache, invalidate } from './cache.ts'
import { eventStream } from './service.ts'

/** Whether the event stream is connected; null until the first try ends. */
export const connected = signal<boolean | null>(null)

/** When the connection was lost, in milliseconds; null while there is one. */
export const lostAt = signal<number | null>(null)

type Listener = (event: EventRecord) => void
const listeners = new Set<Listener>()

/** Long enough to gather the events of one batch, short enough not to be noticed. */
const GATHER = 120

/**
 * After this time a tab in the background gives its connection up: browsers keep six to a server for all tabs together, and
 * a seventh tab would get no answer.
 */
const HIDDEN_MS = 5_000

/** Follows the log after `seq` until the signal ends it: answers that an event concerns are asked for again. */
export async function followLog(seq: number, abort: AbortSignal): Promise<void> {
  const changed = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    timer = undefined
    invalidate(changed)
    changed.clear()
  }
  const onConnection = (isConnected: boolean) => {
    if (isConnected && connected.value === false) {
      void cache.invalidateQueries()
      forgetLost()
    }
    connected.value = isConnected
    lostAt.value = isConnected ? null : (lostAt.value ?? Date.now())
  }
  let last = seq
  while (!abort.aborted) {
    if (document.hidden) await shown(abort)
    if (abort.aborted) break
    // A browser that comes back online may hold a connection that is dead: the stream starts again after the last event.
    const online = new AbortController()
    const end = () => online.abort()
    const lose = () => onConnection(false)
    let hiding: ReturnType<typeof setTimeout> | undefined
    const look = () => {
      clearTimeout(hiding)
      if (document.hidden) hiding = setTimeout(end, HIDDEN_MS)
    }
    window.addEventListener('online', end)
    window.addEventListener('offline', lose)
    document.addEventListener('visibilitychange', look)
    const signal = AbortSignal.any([abort, online.signal])
    try {
      for await (const event of eventStream().stream({ lastEventId: last, signal, onConnection })) {
        last = event.seq
        changed.add(event.entityType)
        timer ??= setTimeout(flush, GATHER)
        for (const listener of listeners) listener(event)
      }
    } finally {
      window.removeEventListener('online', end)
      window.removeEventListener('offline', lose)
      document.removeEventListener('visibilitychange', look)
      clearTimeout(hiding)
    }
  }
  clearTimeout(timer)
}

/** Waits until the tab is looked at. */
async function shown(abort: AbortSignal): Promise<void> {
  await new Promise<void>((done) => {
    const look = () => {
      if (document.hidden && !abort.aborted) return
      document.removeEventListener('visibilitychange', look)
      abort.removeEventListener('abort', look)
      done()
    }
    document.addEventListener('visibilitychange', look)
    abort.addEventListener('abort', look)
  })
}

/** Calls the listener with every event from now on, until the returned function is called. */
export function onEvent(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
