import '../../style/pages/home.css'
import { type LoggedEvent, loadEvents } from '../events/event-log.ts'
import { HIDDEN_TYPES } from '../parts/frame/side.tsx'
import { Tasks } from '../parts/frame/tasks.tsx'
import { asOf, href } from '../place.ts'
import { recent } from '../recent.ts'
import { may, mayChange, mayWrite } from '../service/access.ts'
import { useData, useSettled } from '../service/cache.ts'
import { useCounts } from '../service/counts.ts'
import { byDomain, nouns, titleOf } from '../service/schema.ts'
import { session } from '../service/session.ts'
import { Head } from '../ui/basics.tsx'
import { Icon } from '../ui/icon.tsx'
import { EmptyState, Failure, Skeleton } from '../ui/states.tsx'
import { actorName } from '../values/actors.ts'
import { agoText, labelOf, numberText } from '../values/format.ts'
import { singular } from '../values/noun.ts'

/** The front page: where work was left, what happened last, and what the tenant holds. */
export function HomePage() {
  const time = useSettled(asOf.value, 200)
  const types = [...nouns.value.values()].filter((noun) => may('read', noun) && !HIDDEN_TYPES.has(noun.name))
  const counts = useCounts(types, time)
  // The log of a new tenant has the creation of its key already.
  const isEmpty = [...(counts.value ?? [])].every(([type, count]) => count === 0 || type === 'Event')
  return (
    <>
      <Head title={`~${session.value?.tenant}`} about={time ? 'As it was then' : undefined} />
      <Failure error={counts.error} onRetry={counts.reload} />
      {counts.value && isEmpty && time === null && <FirstSteps />}
      <div class="home">
        <div class="home-main">
          {!counts.value && !counts.error && <Skeleton rows={10} />}
          {counts.value &&
            byDomain(types).map(([domain, group]) => (
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

function FirstSteps() {
  const noun = nouns.value.get('Contact')
  return (
    <EmptyState icon="star" title="Nothing is here yet">
      {mayChange(noun) && (
        <a class="button primary" href={href(['Contact'], { new: '1' })}>
          Create the first {noun ? singular(noun) : 'entity'}
        </a>
      )}
      {mayWrite() && (
        <a class="button" href={href(['import'])}>
          Import a file
        </a>
      )}
      <a class="button" href={href(['agent'])}>
        Connect an agent
      </a>
    </EmptyState>
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
  return (
    <section class="panel" aria-labelledby="latest-title">
      <div class="panel-head">
        <h2 id="latest-title">{time ? 'Happened before' : 'Latest'}</h2>
        <a href={href(['events'])}>
          All <Icon name="right" />
        </a>
      </div>
      <ol class="lines">
        {events.value.map((event) => (
          <li key={event.id}>
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
