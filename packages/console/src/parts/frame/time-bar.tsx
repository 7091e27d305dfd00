import { useEffect, useState } from 'preact/hooks'
import { asOf, travel } from '../../place.ts'
import { useData } from '../../service/cache.ts'
import { request } from '../../service/service.ts'
import { fromLocalInput, localInput, momentText } from '../../values/format.ts'
import { marks, monthEnds } from './marks.ts'
import { TimeMenu } from './time-menu.tsx'

const STEPS = 1_000

/** The one control of time: the whole page shows the moment it is set to. In the present it takes little room. */
export function TimeBar() {
  const time = asOf.value
  const [now, setNow] = useState(() => Date.now())
  const first = useData<{ results: { timestamp: string }[] }>(['first event'], (signal) =>
    request('GET', '/events', { query: { limit: 1, total: false }, signal }),
  )
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000)
    return () => clearInterval(timer)
  }, [])
  const start = Date.parse(first.value?.results[0]?.timestamp ?? '') || now - 86_400_000
  const span = Math.max(now - start, 1_000)
  const part = (at: number) => (at - start) / span
  const at = time === null ? STEPS : Math.round(part(Date.parse(time)) * STEPS)
  const slide = (step: number) => travel(step >= STEPS ? null : new Date(start + (step / STEPS) * span).toISOString())
  return (
    <div class={`time-bar${time === null ? ' present' : ''}`}>
      <button
        type="button"
        class={`now${time === null ? ' on' : ''}`}
        aria-pressed={time === null}
        onClick={() => travel(null)}
      >
        Now
      </button>
      <span class="slider">
        <input
          type="range"
          aria-label="Time"
          aria-valuetext={time === null ? 'Now' : momentText(time)}
          min={0}
          max={STEPS}
          value={at}
          onInput={(event) => slide(Number(event.currentTarget.value))}
        />
        {[...monthEnds(start, now), ...marks()].map((mark) => (
          <i
            key={mark.at}
            class={mark.name === null ? '' : 'named'}
            aria-hidden="true"
            style={{ insetInlineStart: `${part(Date.parse(mark.at)) * 100}%` }}
          />
        ))}
      </span>
      <input
        type="datetime-local"
        aria-label="Exact time"
        step="1"
        value={localInput(time ?? new Date(now).toISOString())}
        onChange={(event) => travel(fromLocalInput(event.currentTarget.value))}
      />
      <TimeMenu start={start} />
    </div>
  )
}
