import '../../style/pages/home.css'
import { useState } from 'preact/hooks'
import { type LoggedEvent, loadEvents } from '../events/event-log.ts'
import { HIDDEN_TYPES } from '../parts/frame/side.tsx'
import { Tasks } from '../parts/frame/tasks.tsx'
import { asOf, href } from '../place.ts'
import { recent } from '../recent.ts'
import { keyId, may, personId } from '../service/access.ts'
import { useData, useSettled } from '../service/cache.ts'
import { useCounts } from '../service/counts.ts'
import { byDomain, nouns, titleOf } from '../service/schema.ts'
import { session } from '../service/session.ts'
import { Head } from '../ui/basics.tsx'
import { Icon } from '../ui/icon.tsx'
import { Failure, Skeleton } from '../ui/states.tsx'
import { actorName } from '../values/actors.ts'
import { agoText, labelOf, numberText } from '../values/format.ts'
import { FirstSteps } from './first-steps.tsx'
import { lastVisit } from './last-visit.ts'
import { MyWork } from './my-work.tsx'
import { Waiting } from './waiting.tsx'

/** The front page: where work was left, what happened last, and what the tenant holds. */
export function HomePage() {
  const time = useSettled(asOf.value, 200)
  const types = [...nouns.value.values()].filter((noun) => may('read', noun) && !HIDDEN_TYPES.has(noun.name))
  const counts = useCounts(types, time)
  // The log of a new tenant has the creation of its key already.
  const isEmpty = [...(counts.value ?? [])].every(([type, count]) => count === 0 || type === 'Event')
  const [isAll, setAll] = useState(false)
  const empty = types.filter(({ name }) => (counts.value?.get(name) ?? 0) === 0)
  const shown = isAll || isEmpty ? types : types.filter((noun) => !empty.includes(noun))
  return (
    <>
      <Head title={`~${session.value?.tenant}`} about={time ? 'As it was then' : undefined} />
      <Failure error={counts.error} onRetry={counts.reload} />
      {counts.value && isEmpty && time === null && <FirstSteps />}
      <div class="home">
        {time === null && (
          <div class="home-day">
            {personId() !== null && <MyWork />}
            <Waiting />
          </div>
        )}
        <div class="home-main">
          {!counts.value && !counts.error && <Skeleton rows={10} />}
          {counts.value &&
            byDomain(shown).map(([domain, group]) => (
              <section key={domain} class="domain" aria-label={labelOf(domain)}>
                <h2>{labelOf(domain)}</h2>
                <ul>
                  {group.map((noun) => {
                    const count = counts.value?.get(noun.name) ?? 0
                    return (
                      <li key={noun.name}>
                        <a href={href([noun.name])}>
                          <span>{labelOf(noun.path)}</span>
                          <span class={`count${count ? '' : ' zero'}`}>{numberText(count)}</span>
                        </a>
                      </li>
                    )
                  })}
                </ul>
              </section>
            ))}
          {empty.length > 0 && (
            <button type="button" class="quiet" aria-expanded={isAll} onClick={() => setAll(!isAll)}>
              {isAll ? 'Hide types without entries' : `Show ${numberText(empty.length)} types without entries`}
            </button>
          )}
        </div>
        <aside>
          <Tasks of={session.value} />
          <Recent />
          {may('read', nouns.value.get('Event')) && <Latest time={time} />}
        </aside>
      </div>
    </>
  )
}

function Recent() {
  const visits = recent()
  if (visits.length === 0) return null
  return (
    <section class="panel" aria-labelledby="recent-title">
      <h2 id="recent-title">Opened last</h2>
      <ul class="lines">
        {visits.map(({ type, id, title }) => (
          <li key={id}>
            <a href={href([type, id])}>{title}</a>
            <span class="hint">{labelOf(type)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The events that happened last, as far as the key may read them. */
function Latest({ time }: { time: string | null }) {
  const events = useData<readonly LoggedEvent[]>(
    ['latest', time],
    async (signal) =>
      (await loadEvents({ pattern: '', words: '', time, cursor: null, limit: 12, verbsOnly: true }, signal)).events,
    { types: time === null ? ['*'] : [] },
  )
  if (!events.value || events.value.length === 0) return null
  const seen = time === null ? lastVisit() : null
  const isFresh = ({ timestamp, actor }: LoggedEvent) => seen !== null && timestamp > seen && actor !== keyId()
  const fresh = events.value.filter(isFresh).length
  return (
    <section class="panel" aria-labelledby="latest-title">
      <div class="panel-head">
        <h2 id="latest-title">{time ? 'Happened before' : 'Latest'}</h2>
        {fresh > 0 && <span class="state tone-new">{numberText(fresh)} since you last looked</span>}
        <a href={href(['events'])}>
          All <Icon name="right" />
        </a>
      </div>
      <ol class="lines">
        {events.value.map((event) => (
          <li key={event.id} class={isFresh(event) ? 'fresh' : ''}>
            <span class="happened">
              {nouns.value.has(event.entityType) ? (
                <a href={href([event.entityType, event.entityId])}>
                  {titleOf(event.data, nouns.value.get(event.entityType)) || labelOf(event.entityType)}
                </a>
              ) : (
                <b>{titleOf(event.data) || event.type}</b>
              )}
              <span>{labelOf(event.type.split('.')[1] ?? event.type).toLowerCase()}</span>
            </span>
            <span class="hint" title={event.timestamp}>
              {actorName(event.actor)} · {agoText(event.timestamp)}
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}
