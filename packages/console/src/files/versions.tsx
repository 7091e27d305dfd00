import { useState } from 'preact/hooks'
import { Time } from '../parts/value.tsx'
import { useData } from '../service/cache.ts'
import type { Page } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { sayError } from '../toast.ts'
import { Act } from '../ui/basics.tsx'
import { Failure } from '../ui/states.tsx'
import { actorName } from '../values/actors.ts'
import { changesOf, type Version } from '../values/diff.ts'
import { bytesText } from '../values/format.ts'
import { filesIn } from './file-chips.tsx'
import { type ShownFile, shown } from './state.ts'

const STEP = 100

/** The versions of a file field, newest first: when each was attached and by whom. A click shows it. */
export function Versions({ file }: { file: ShownFile }) {
  const path = `/${file.type}/${file.id}/history`
  const [older, setOlder] = useState<Page<Version> | null>(null)
  const first = useData<Page<Version>>(
    ['history', file.id, STEP],
    (signal) => request('GET', path, { query: { limit: STEP }, signal }),
    { types: [file.type] },
  )
  const more = async () => {
    const cursor = (older ?? first.value)?.cursor ?? undefined
    const page = await request<Page<Version>>('GET', path, { query: { limit: STEP, cursor } })
    setOlder({ ...page, results: [...(older?.results ?? []), ...page.results] })
  }
  const events = [...(first.value?.results ?? []), ...(older?.results ?? [])]
  const versions = events.flatMap((event) => {
    const change = changesOf(event).find(({ field }) => field === file.field)
    return change === undefined ? [] : [{ event, values: filesIn(change.after) }]
  })
  const wanted = file.values[file.at]?.hash
  const holding = versions.filter(({ values }) => values.some(({ hash }) => hash === wanted))
  const current = holding.find(({ event }) => file.asOf === String(event.seq)) ?? holding[0]
  return (
    <section class="file-versions" aria-labelledby="versions-title">
      <h3 id="versions-title">{t('Versions')}</h3>
      <Failure error={first.error} onRetry={first.reload} />
      <ol>
        {versions.map(({ event, values }) => (
          <li key={event.seq}>
            <button
              type="button"
              class="quiet"
              aria-current={current?.event === event ? 'true' : undefined}
              disabled={values.length === 0}
              onClick={() => {
                const at = Math.max(
                  0,
                  values.findIndex(({ hash }) => hash === wanted),
                )
                shown.value = { ...file, values, at, asOf: String(event.seq) }
              }}
            >
              <Time iso={event.timestamp} />
              <span>{values.length === 0 ? t('removed') : values.map(({ name }) => name).join(', ')}</span>
              <small>
                {values.length > 0 && `${bytesText(values.reduce((sum, { size }) => sum + size, 0))} · `}
                {actorName(event.actor)}
              </small>
            </button>
          </li>
        ))}
      </ol>
      {(older ?? first.value)?.cursor && <Act onRun={() => more().catch(sayError)}>{t('Earlier versions')}</Act>}
    </section>
  )
}
