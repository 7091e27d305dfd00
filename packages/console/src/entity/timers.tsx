import type { EntityTimer } from '@tildebase/client'
import { Time } from '../parts/value.tsx'
import { useData } from '../service/cache.ts'
import { request } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { Failure, Loading } from '../ui/states.tsx'
import { agoText, labelOf } from '../values/format.ts'
import type { Noun } from '../values/noun.ts'

/** The pending and failed timers of an entity. Nothing for types without timers. */
export function Timers({ noun, id }: { noun: Noun; id: string }) {
  const hasTimers = Object.keys(noun.timers).length > 0
  const found = useData<{ timers: readonly EntityTimer[] }>(
    ['timers', id],
    hasTimers ? (signal) => request('GET', `/${noun.name}/${id}/timers`, { signal }) : null,
    { types: [noun.name] },
  )
  if (hasTimers && !found.value && !found.error) return <Loading />
  const timers = found.value?.timers ?? []
  if (!found.error && timers.length === 0) return null
  return (
    <section class="panel" aria-labelledby="timers-title">
      <h2 id="timers-title">{t('Due next')}</h2>
      <Failure error={found.error} onRetry={found.reload} />
      <ul class="timers">
        {timers.map((timer) => (
          <li key={timer.name}>
            <strong>{labelOf(timer.run)}</strong>{' '}
            <span class="when">
              {agoText(timer.at)} · <Time iso={timer.at} />
            </span>
            {timer.error !== null && <p class="error">{t('Refused: {}', timer.error)}</p>}
          </li>
        ))}
      </ul>
    </section>
  )
}
