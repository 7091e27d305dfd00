import { useEffect, useRef, useState } from 'preact/hooks'
import { Late } from './api.ts'

export interface Loaded<T> {
  readonly value: T | null
  readonly error: Error | null
  readonly loading: boolean
  /** Asks again, and keeps showing the old answer until the new one is there. */
  reload(): void
}

/** Asks when the page opens and whenever `deps` change. The last question wins; a null question is none. */
export function useAnswer<T>(
  question: ((signal: AbortSignal) => Promise<T>) | null,
  deps: readonly unknown[],
): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({ value: null, error: null, loading: true })
  const [turn, setTurn] = useState(0)
  const latest = useRef(question)
  latest.current = question
  useEffect(() => {
    const asked = latest.current
    if (!asked) return setState({ value: null, error: null, loading: false })
    const control = new AbortController()
    setState((old) => ({ ...old, loading: true }))
    asked(control.signal).then(
      (value) => {
        if (!control.signal.aborted) setState({ value, error: null, loading: false })
      },
      (error: Error) => {
        if (!control.signal.aborted && !(error instanceof Late)) setState({ value: null, error, loading: false })
      },
    )
    return () => control.abort()
  }, [turn, ...deps])
  return { ...state, reload: () => setTurn((number) => number + 1) }
}

/** A value that follows another one, once that has been still for a moment. */
export function useCalm<T>(value: T, ms: number): T {
  const [calm, setCalm] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setCalm(() => value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return calm
}
