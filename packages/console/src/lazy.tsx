import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { outlivesThePage } from './service/session.ts'
import { t } from './texts/text.ts'
import { Failure, Skeleton } from './ui/states.tsx'
import { TypingAhead } from './ui/typing-ahead.tsx'

const AGAIN_MS = 3_000

/** A component whose code is loaded when it is first shown, unless other code has brought it along. */
type LazyType<P> = ComponentType<P> & { bring(component: ComponentType<P>): void }

/** Something else is shown while the code loads. */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  waiting: (props: P) => ComponentChildren = () => <Skeleton rows={6} />,
): LazyType<P> {
  let ready: ComponentType<P> | null = null
  const bring = (component: ComponentType<P>) => {
    ready = component
  }
  return Object.assign(Lazy, { bring })

  function Lazy(props: P) {
    const [Loaded, setLoaded] = useState<ComponentType<P> | null>(() => ready)
    const [error, setError] = useState<Error | null>(null)
    const start = () =>
      void load().then(
        (component) => {
          ready = component
          setLoaded(() => component)
        },
        (reason) => {
          if (error) void reloadIfThere(reason)
          // The browser's own words name an address, which helps no reader.
          setError(new Error(t('This part of the console could not be loaded. It is tried again until it arrives.')))
        },
      )
    useLayoutEffect(() => {
      if (!ready) start()
    }, [])
    useEffect(() => {
      if (!error || Loaded) return
      const timer = setTimeout(start, AGAIN_MS)
      return () => clearTimeout(timer)
    }, [error, Loaded])
    if (Loaded) return <Loaded {...props} />
    return error ? <Failure error={error} onRetry={start} /> : waiting(props)
  }
}

/** A window whose code is loaded when it is asked for. Keys that are pressed meanwhile wait for it. */
export function lazyWindow<P extends { onClose: () => void }>(load: () => Promise<ComponentType<P>>): LazyType<P> {
  return lazy(load, ({ onClose }) => <TypingAhead onClose={onClose} />)
}

const RELOADED = 'tilde.reloaded'
const RELOAD_EVERY_MS = 60_000

/**
 * Some browsers never ask again for code that they could not load once. If it can be had now, only a new page gets it; at
 * most once a minute, in case that something else is wrong with the code.
 */
async function reloadIfThere(reason: unknown): Promise<void> {
  const [address] = /https?:\S+/.exec(String(reason)) ?? []
  if (address === undefined || !outlivesThePage()) return
  if (Date.now() - Number(sessionStorage.getItem(RELOADED)) < RELOAD_EVERY_MS) return
  const isThere = await fetch(address).then(
    ({ ok }) => ok,
    () => false,
  )
  if (!isThere) return
  sessionStorage.setItem(RELOADED, String(Date.now()))
  location.reload()
}
