import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** The lines of a long list that are in sight, and what lies above and below them in pixels. */
export interface Window {
  readonly first: number
  readonly end: number
  readonly above: number
  readonly below: number
}

const BESIDE = 12

/** Follows which lines of a box are in sight, all of them being `height` pixels high. */
export function useWindow(box: RefObject<HTMLElement | null>, count: number, height: number): Window {
  const [range, setRange] = useState({ first: 0, end: 60 })
  useEffect(() => {
    const element = box.current
    if (!element) return
    const follow = () => {
      const first = Math.max(0, Math.floor(element.scrollTop / height) - BESIDE)
      const end = Math.ceil((element.scrollTop + element.clientHeight) / height) + BESIDE
      setRange((known) => (known.first === first && known.end === end ? known : { first, end }))
    }
    follow()
    element.addEventListener('scroll', follow, { passive: true })
    const resized = new ResizeObserver(follow)
    resized.observe(element)
    return () => {
      element.removeEventListener('scroll', follow)
      resized.disconnect()
    }
  }, [box, height, count])
  const end = Math.min(range.end, count)
  const first = Math.min(range.first, end)
  return { first, end, above: first * height, below: (count - end) * height }
}
