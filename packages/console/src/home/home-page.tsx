import '../../style/pages/home.css'
import { useState } from 'preact/hooks'
import { type LoggedEvent, loadEvents, titleOfEvent } from '../events/event-log.ts'
import { HIDDEN_TYPES } from '../parts/frame/side.tsx'
import { Tasks } from '../parts/frame/tasks.tsx'
import { asOf, href } from '../place.ts'
import { recent } from '../recent.ts'
import { keyId, personId } from '../service/access.ts'
import { useData, useSettled } from '../service/cache.ts'
import { useCounts } from '../service/counts.ts'
import { may } from '../service/rights.ts'
import { byDomain, nouns } from '../service/schema.ts'
import { session } from '../service/session.ts'
import { areSettingsKnown, tenantName } from '../service/settings.ts'
import { t } from '../texts/text.ts'
import { Head } from '../ui/basics.tsx'
import { Icon } from '../ui/icon.tsx'
import { Failure, Loading, Skeleton } from '../ui/states.tsx'
import { TypeIcon } from '../ui/type-icon.tsx'
import { actorName } from '../values/actors.ts'
import { agoText, labelOf, numberText } from '../values/format.ts'
import { lastVisit } from './last-visit.ts'
import { MyWork } from './my-work.tsx'
import { StartList } from './start-list.tsx'
import { Waiting } from './waiting.tsx'

/** The front page: where work was left, what happened last, and what the tenant holds. */
export function HomePage() {
  const time = useSettled(asOf.value, 200)
  const types = [...nouns.value.values()].filter((noun) => may('read', noun) && !HIDDEN_TYPES.has(noun.name))
  const counted = useCounts(types, time)
  // The list of first steps is above the counts, and the settings say whether it is shown.
  const counts = { ...counted, value: areSettingsKnown() ? counted.value : null }
  const [isAll, setAll] = useState(false)
  const empty = types.filter(({ name }) => (counts.value?.get(name) ?? 0) === 0)
  const shown = isAll ? types : types.filter((noun) => !empty.includes(noun))
  return (
    <>
      <Head
        title={<bdi>{tenantName() ?? `~${session.value?.tenant}`}</bdi>}
        about={time ? t('As it was then') : undefined}
      />
      <Failure error={counts.error} onRetry={counts.reload} />
      {!counts.value && !counts.error && (
        <>
          <Skeleton rows={10} />
          <Loading />
        </>
      )}
      {counts.value && time === null && <StartList counts={counts.value} />}
      <div class="home">
        {time === null && (
          <div class="home-day">
            {personId() !== null && <MyWork />}
            <Waiting />
          </div>
        )}
        <div class="home-main">
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
                          <TypeIcon type={noun.name} />
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
              {isAll ? t('Hide types without entries') : t('Show {} types without entries', numberText(empty.length))}
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
      <h2 id="recent-title">{t('Opened last')}</h2>
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

/** Where an event leads: to its entity, or to the review of a changeset. */
function addressOf({ entityType, entityId }: LoggedEvent): string {
  return href([entityType === 'Changeset' ? 'changesets' : entityType, entityId])
}

const SHOWN = 12
/** Some are left out, so more are read than shown. */
const READ = 3 * SHOWN

/** One line for each entity: what happened to it last. A proposal that grows is one line, too. */
function latestOf(events: readonly LoggedEvent[]): LoggedEvent[] {
  const isNewest = (event: LoggedEvent, at: number) =>
    events.findIndex(({ entityId }) => entityId === event.entityId) === at
  return events.filter(isNewest).slice(0, SHOWN)
}

/** The events that happened last, as far as the key may read them. */
function Latest({ time }: { time: string | null }) {
  const events = useData<readonly LoggedEvent[]>(
    ['latest', time],
    async (signal) =>
      (await loadEvents({ pattern: '', time, cursor: null, limit: READ, verbsOnly: true }, signal)).events,
    { types: time === null ? ['*'] : [] },
  )
  const lines = latestOf(events.value ?? [])
  if (lines.length === 0) return null
  const seen = time === null ? lastVisit() : null
  const isFresh = ({ timestamp, actor }: LoggedEvent) => seen !== null && timestamp > seen && actor !== keyId()
  const fresh = lines.filter(isFresh).length
  return (
    <section class="panel" aria-labelledby="latest-title">
      <div class="panel-head">
        <h2 id="latest-title">{time ? t('Happened before') : t('Latest')}</h2>
        {fresh > 0 && <span class="state tone-new">{t('{} since you last looked', numberText(fresh))}</span>}
        <a href={href(['events'])}>
          {t('All')} <Icon name="right" />
        </a>
      </div>
      <ol class="lines">
        {lines.map((event) => (
          <li key={event.id} class={isFresh(event) ? 'fresh' : ''}>
            <span class="happened">
              {nouns.value.has(event.entityType) ? (
                <a href={addressOf(event)}>{titleOfEvent(event) || labelOf(event.entityType)}</a>
              ) : (
                <b>{titleOfEvent(event) || event.type}</b>
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
