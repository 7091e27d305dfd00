import { useEffect, useState } from 'preact/hooks'

/**
 * How many of some parts are drawn: the first ones, and more after each painting. What is in sight comes first, and keys
 * and taps do not wait for what is not.
 */
export function useTurns(parts: number, first: number, step: number): number {
  const [drawn, setDrawn] = useState(first)
  useEffect(() => {
    if (drawn >= parts) return
    const timer = setTimeout(() => setDrawn(drawn + step))
    return () => clearTimeout(timer)
  }, [drawn, parts])
  return drawn
}
