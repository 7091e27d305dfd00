import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Failure, Skeleton } from './ui/states.tsx'

/** A component whose code is loaded when it is first shown. Something else is shown while it loads. */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  waiting: () => ComponentChildren = () => <Skeleton rows={6} />,
): ComponentType<P> {
  let ready: ComponentType<P> | null = null
  return function Lazy(props: P) {
    const [Loaded, setLoaded] = useState<ComponentType<P> | null>(() => ready)
    const [error, setError] = useState<Error | null>(null)
    const start = () => {
      setError(null)
      load().then((component) => {
        ready = component
        setLoaded(() => component)
      }, setError)
    }
    useEffect(() => {
      if (!ready) start()
    }, [])
    if (Loaded) return <Loaded {...props} />
    return error ? <Failure error={error} onRetry={start} /> : waiting()
  }
}
