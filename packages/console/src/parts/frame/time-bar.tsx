import { useEffect, useState } from 'preact/hooks'
import { asOf, travel } from '../../place.ts'
import { prefer, preferences } from '../../preferences.ts'
import { AFTER_PAGE_MS, useData, useSettled } from '../../service/cache.ts'
import { nouns } from '../../service/schema.ts'
import { request } from '../../service/service.ts'
import { t } from '../../texts/text.ts'
import { fromLocalInput, localInput, momentText } from '../../values/format.ts'
import { monthEnds } from '../../values/months.ts'
import { marks } from './marks.ts'
import { TimeMenu } from './time-menu.tsx'

const STEPS = 1_000

/** Types whose events keep their own times when a past is imported next to them. */
const OWN_TYPES = ['ApiKey', 'User', 'AccessRole', 'Schema', 'Hook', 'Webhook', 'Workflow', 'Integration', 'View']

/** The earliest time of the tenant: its first event, or the first one of a past that was imported after that. */
async function firstTime(signal: AbortSignal): Promise<number> {
  const types = [...nouns.value.keys()].filter((name) => !OWN_TYPES.includes(name)).join(',')
  const firsts = await Promise.all(
    [{}, { type: types }].map((query) =>
      request<{ results: { timestamp: string }[] }>('GET', '/events', {
        query: { limit: 1, total: false, ...query },
        signal,
      }),
    ),
  )
  const times = firsts.flatMap(({ results }) => results.map(({ timestamp }) => Date.parse(timestamp)))
  return times.length === 0 ? Date.now() - 86_400_000 : Math.min(...times)
}

/** The one control of time: the whole page shows the moment it is set to. In the present it takes little room. */
export function TimeBar() {
  const time = asOf.value
  const [now, setNow] = useState(() => Date.now())
  const known = useSettled(nouns.value.size, AFTER_PAGE_MS)
  // Where the slider was put before it was known how far back it reaches: then it is asked at once.
  const [wanted, setWanted] = useState<number | null>(null)
  const types = wanted === null ? known : nouns.value.size
  const first = useData<number>(['first event', types], types === 0 ? null : firstTime, { types: ['Schema'] })
  const isKnown = first.value !== null || first.error !== null
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000)
    return () => clearInterval(timer)
  }, [])
  useEffect(() => {
    if (time !== null && !preferences.value.hasTravelled) prefer({ hasTravelled: true })
  }, [time])
  const start = first.value ?? now - 86_400_000
  const span = Math.max(now - start, 1_000)
  const part = (at: number) => (at - start) / span
  const at = wanted ?? (time === null ? STEPS : Math.round(part(Date.parse(time)) * STEPS))
  const exact = localInput(time ?? new Date(now).toISOString())
  // Seconds are shown where they say something.
  const isWhole = exact.endsWith(':00')
  const slide = (step: number) => travel(step >= STEPS ? null : new Date(start + (step / STEPS) * span).toISOString())
  useEffect(() => {
    if (wanted === null || !isKnown) return
    setWanted(null)
    slide(wanted)
  }, [wanted, isKnown])
  return (
    <div class={`time-bar${time === null ? ' present' : ''}`}>
      <button
        type="button"
        class={`now${time === null ? ' on' : ''}`}
        aria-pressed={time === null}
        onClick={() => travel(null)}
      >
        {t('Now')}
      </button>
      <span class="slider">
        <input
          type="range"
          aria-label={t('Time')}
          aria-valuetext={time === null ? t('Now') : momentText(time)}
          min={0}
          max={STEPS}
          value={at}
          onInput={(event) => (isKnown ? slide : setWanted)(Number(event.currentTarget.value))}
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
        aria-label={t('Exact time')}
        step={isWhole ? 60 : 1}
        value={isWhole ? exact.slice(0, 16) : exact}
        onChange={(event) => travel(fromLocalInput(event.currentTarget.value))}
      />
      <TimeMenu start={start} />
    </div>
  )
}
