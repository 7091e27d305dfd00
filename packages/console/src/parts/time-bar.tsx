import { useEffect, useState } from 'preact/hooks'
import { ask } from '../api.ts'
import { agoText, fromLocalInput, localInput, momentText } from '../format.ts'
import { asOf, travel } from '../place.ts'
import { useAnswer } from '../use.ts'

const STEPS = 1_000

/** The one control of time: the whole page shows the moment it stands at. */
export function TimeBar() {
  const time = asOf.value
  const [now, setNow] = useState(() => Date.now())
  const first = useAnswer(
    (signal) => ask<{ results: { timestamp: string }[] }>('GET', '/events', { query: { limit: 1 }, signal }),
    [],
  )
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000)
    return () => clearInterval(timer)
  }, [])
  const start = Date.parse(first.value?.results[0]?.timestamp ?? '') || now - 86_400_000
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
        You are in the past: everything is shown as of <strong>{momentText(time)}</strong> ({agoText(time)}). Nothing
        can be changed here.
      </span>
      <button type="button" onClick={() => travel(null)}>
        Back to now
      </button>
    </div>
  )
}
