import '../../style/pages/events.css'
import { useId, useRef, useState } from 'preact/hooks'
import { useKeys } from '../keyboard.ts'
import { Changes } from '../parts/changes.tsx'
import { Seal } from '../parts/seal.tsx'
import { EntityLink } from '../parts/value.tsx'
import { asOf, href, look, place, travel } from '../place.ts'
import { useData, useSettled } from '../service/cache.ts'
import { connected } from '../service/live.ts'
import { nouns } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { isTranslated, t } from '../texts/text.ts'
import { sayError } from '../toast.ts'
import { Act, Head, InputNotes } from '../ui/basics.tsx'
import { Icon } from '../ui/icon.tsx'
import { JsonText } from '../ui/json-text.tsx'
import { EmptyState, Failure, Skeleton } from '../ui/states.tsx'
import { actorName, knownActors } from '../values/actors.ts'
import { type Change, changesOf } from '../values/diff.ts'
import { clockText } from '../values/figures.ts'
import { dayText, inSentence, labelOf, numberText } from '../values/format.ts'
import { useLive, useLog, useWords } from './event-hooks.ts'
import { hasWords, isPattern, type LoggedEvent, titleOfEvent } from './event-log.ts'
import { exportEvents } from './export-events.ts'

/** What happened in the tenant, newest first, page by page, and what happens now. */
export function EventsPage() {
  const type = place.value.query.get('type') ?? ''
  const id = useId()
  const isValid = isPattern(type)
  const pattern = useSettled(isValid ? type.trim() : '', 250)
  const time = useSettled(asOf.value, 200)
  const [words, setWords] = useState('')
  const [paused, setPaused] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const { query } = place.value
  const narrow = {
    actor: query.get('by') ?? '',
    from: query.get('from') ?? '',
    to: query.get('to') ?? '',
    record: query.get('record') ?? '',
  }
  const log = useLog(pattern, time, narrow)
  const search = useWords(pattern, time, narrow, useSettled(words.trim(), 250))
  const live = useLive(pattern, time === null && narrow.to === '', paused, narrow)
  useKeys({
    '/': () => field.current?.focus(),
    p: () => setPaused(!paused),
    Escape: () => field.current?.blur(),
  })
  const isSearch = words.trim() !== ''
  // Until the first answer, what is on the page and has the words.
  const older = isSearch && search.looked > 0 ? search.found : log.events
  const seen = new Set(older.map(({ id }) => id))
  const events = [...live.events.filter(({ id }) => !seen.has(id)), ...older]
  const shown = events.filter((event) => hasWords(event, words.trim()))
  return (
    <>
      <Head
        title={t('Events')}
        about={log.total === null ? undefined : countText(log.total + live.events.length, time)}
      >
        <ExportButton question={{ pattern, time, narrow }} words={words.trim()} />
        {time === null && <Lamp isOpen={connected.value === true} paused={paused} />}
        {time === null && (
          <button type="button" aria-pressed={paused} onClick={() => setPaused(!paused)}>
            {paused ? continueText(live.waiting) : t('Pause')}
          </button>
        )}
      </Head>
      <search class="toolbar">
        <label class="search-box">
          <Icon name="filter" />
          <input
            aria-label={t('Type or pattern')}
            placeholder="Deal, *.created, Deal.won"
            id={`${id}-type`}
            value={type}
            onInput={(event) => look({ type: event.currentTarget.value || null })}
          />
        </label>
        <label class="search-box">
          <Icon name="search" />
          <input
            ref={field}
            type="search"
            aria-label={t('Words in the events')}
            placeholder={t('Words in the events')}
            value={words}
            onInput={(event) => setWords(event.currentTarget.value)}
          />
          <kbd>/</kbd>
        </label>
        <select
          aria-label={t('By whom')}
          value={narrow.actor}
          onChange={(event) => look({ by: event.currentTarget.value || null })}
        >
          <option value="">{t('by anyone')}</option>
          {narrow.actor !== '' && !knownActors().some(({ id }) => id === narrow.actor) && (
            <option value={narrow.actor}>{actorName(narrow.actor)}</option>
          )}
          {knownActors().map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
        <label class="day-box">
          {t('from')}
          <input
            type="date"
            aria-label={t('From day')}
            value={narrow.from}
            onInput={(event) => look({ from: event.currentTarget.value || null })}
          />
        </label>
        <label class="day-box">
          {t('to')}
          <input
            type="date"
            aria-label={t('To day')}
            value={narrow.to}
            onInput={(event) => look({ to: event.currentTarget.value || null })}
          />
        </label>
        {narrow.record !== '' && (
          <span class="chip">
            {t('About')} <EntityLink to={narrow.record} />
            <button
              type="button"
              class="quiet icon-only"
              aria-label={t('Events of everything')}
              onClick={() => look({ record: null })}
            >
              <Icon name="close" />
            </button>
          </span>
        )}
      </search>
      <InputNotes
        for={`${id}-type`}
        error={isValid ? undefined : t('Write a type such as Deal, or a pattern such as *.created.')}
      />
      <Failure error={log.error} onRetry={log.reload} />
      {log.total === null && !log.error && <Skeleton rows={10} />}
      <Failure error={search.error} onRetry={search.more} />
      {search.isLooking && shown.length === 0 && <Skeleton rows={3} />}
      {log.total !== null && shown.length === 0 && !search.isLooking && (
        <EmptyState
          icon="pulse"
          title={
            !isSearch
              ? pattern === ''
                ? t('Nothing happened yet')
                : t('No {} yet', pattern)
              : search.hasMore
                ? t('The newest {} events do not have these words', numberText(search.looked))
                : t('No event has these words')
          }
        />
      )}
      <ol class="tail" aria-label={t('Events')}>
        {shown.map((event, at) => (
          <Line key={event.id} event={event} isNewDay={isNewDay(shown, at)} />
        ))}
      </ol>
      {(isSearch ? search.hasMore : log.hasMore) && (
        <nav class="pager" aria-label={t('Pages')}>
          {search.isLooking && (
            <span>{t('{} of {}', numberText(search.looked), numberText(Math.max(log.total ?? 0, search.looked)))}</span>
          )}
          {search.isLooking ? (
            <button type="button" onClick={search.stop}>
              {t('Stop')}
            </button>
          ) : (
            <button type="button" aria-busy={log.loading} onClick={isSearch ? search.more : log.more}>
              {t('Earlier events')}
            </button>
          )}
        </nav>
      )}
    </>
  )
}

/** Saves what the filters and the words leave of the log. */
function ExportButton({ question, words }: { question: Parameters<typeof exportEvents>[0]; words: string }) {
  const [count, setCount] = useState<number | null>(null)
  const save = () =>
    exportEvents(question, words, setCount)
      .catch(sayError)
      .finally(() => setCount(null))
  return (
    <Act icon="download" onRun={save}>
      {count === null ? t('Export') : `${numberText(count)}…`}
    </Act>
  )
}

function Lamp({ isOpen, paused }: { isOpen: boolean; paused: boolean }) {
  const state = paused ? 'paused' : isOpen ? 'live' : 'connecting'
  const words = { paused: t('Paused'), live: t('Live'), connecting: t('Connecting') }
  return <span class={`lamp ${state}`}>{words[state]}</span>
}

function Line({ event, isNewDay }: { event: LoggedEvent; isNewDay: boolean }) {
  const [open, setOpen] = useState(false)
  const [kind = '', name = ''] = event.type.includes('.') ? event.type.split('.') : ['', event.type]
  const noun = nouns.value.get(event.entityType)
  return (
    <>
      {isNewDay && (
        <li class="day">
          <h2>{dayText(event.timestamp)}</h2>
        </li>
      )}
      <li>
        <details onToggle={(toggled) => setOpen(toggled.currentTarget.open)}>
          <summary>
            <time dateTime={event.timestamp} title={event.timestamp}>
              {clockText(event.timestamp)}
            </time>
            <span class="event-type" title={event.type}>
              {kind && (isTranslated ? `${labelOf(kind)} ` : `${kind}.`)}
              <b>{isTranslated ? labelOf(name).toLowerCase() : name}</b>
            </span>
            <span class="event-title">{titleOfEvent(event)}</span>
            <span class="event-actor" title={event.actor}>
              {actorName(event.actor)}
            </span>
          </summary>
          {open && (
            <div class="event-body">
              <p>
                {noun && (
                  <a href={href([event.entityType, event.entityId])}>
                    {t('Open this {}', inSentence(event.entityType))}
                  </a>
                )}{' '}
                <button type="button" class="quiet" onClick={() => look({ record: event.entityId })}>
                  <Icon name="filter" /> {t('Only this {}', inSentence(event.entityType))}
                </button>{' '}
                <button type="button" class="quiet" onClick={() => travel(event.timestamp)}>
                  <Icon name="clock" /> {t('See this moment')}
                </button>{' '}
                <Seal event={event.id} />
              </p>
              <EventChanges event={event} />
              <JsonText value={event.data} label={t('The entry after the event')} />
            </div>
          )}
        </details>
      </li>
    </>
  )
}

/** What an event changed. The collection of events leaves that out, so it is asked of the entity's history. */
function EventChanges({ event }: { event: LoggedEvent }) {
  const isVerb = event.entityType !== 'Event' && event.verb !== 'create' && nouns.value.has(event.entityType)
  const found = useData<readonly Change[]>(
    ['event changes', event.id],
    isVerb && event.previous === null
      ? async (signal) => {
          const at = { from: new Date(Date.parse(event.timestamp) - 1).toISOString(), to: event.timestamp }
          const { changes } = await request<{
            changes: { field: string; from: Change['before']; to: Change['after'] }[]
          }>('GET', `/${event.entityType}/${event.entityId}/diff`, { query: at, signal })
          return changes.map(({ field, from, to }) => ({ field, before: from, after: to }))
        }
      : null,
  )
  const own = event.previous === null ? [] : changesOf({ data: event.data, previous: event.previous, verb: event.verb })
  return <Changes type={event.entityType} changes={own.length > 0 ? own : (found.value ?? [])} />
}

function isNewDay(events: readonly LoggedEvent[], at: number): boolean {
  return at === 0 || dayText(events[at]!.timestamp) !== dayText(events[at - 1]!.timestamp)
}

function continueText(waiting: number): string {
  return waiting > 0 ? t('Continue · {} waiting', numberText(waiting)) : t('Continue')
}

function countText(total: number, time: string | null): string {
  return time === null ? t('{} in all', numberText(total)) : t('{} up to then', numberText(total))
}
