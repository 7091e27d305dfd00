import '../../../style/pages/calendar.css'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { CreateDialog } from '../../parts/forms/create.tsx'
import { saveFields } from '../../parts/forms/save.ts'
import { href, place } from '../../place.ts'
import { mayChange } from '../../service/access.ts'
import { useData } from '../../service/cache.ts'
import { type Page, titleOf } from '../../service/schema.ts'
import { request } from '../../service/service.ts'
import { t } from '../../texts/text.ts'
import { sayError } from '../../toast.ts'
import { Icon } from '../../ui/icon.tsx'
import { Failure, Skeleton } from '../../ui/states.tsx'
import type { Entity } from '../../values/entity.ts'
import { weekdayText } from '../../values/figures.ts'
import { dateText, inSentence, labelOf, monthYearText, numberText } from '../../values/format.ts'
import { isEditable, singular, wordsOf } from '../../values/noun.ts'
import { toneOf } from '../../values/tones.ts'
import { followDrag } from '../board/drag.ts'
import { dayName, dayNamed, moved } from '../filter/periods.ts'
import { calendarFields, setLook } from '../look.ts'
import { isPlan, openFilter } from '../open-work.ts'
import type { Question } from '../question.ts'
import { daysOf, loadDays, monthOf, onDay } from './month.ts'

const SHOWN = 4
const UNDATED = 12
const STEPS: { readonly [key: string]: number } = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }

/** Entities on the days of a month. One is moved to another day by dragging it, or with Shift and the arrow keys. */
export function Calendar({ question, field }: { question: Question; field: string }) {
  const { noun } = question
  const month = monthOf(place.value.query.get('month'))
  const days = daysOf(month)
  const [creating, setCreating] = useState<string | null>(null)
  const [over, setOver] = useState<string | null>(null)
  const found = useData(
    ['calendar', noun.name, field, question.filter, question.time, dayName(days[0]!)],
    (signal) => loadDays(question, field, days, signal),
    { types: question.time === null ? [noun.name] : [] },
  )
  const fields = calendarFields(noun)
  const writes = mayChange(noun) && isEditable(noun, noun.fields[field])
  const canCreate = mayChange(noun) && noun.verbs.create !== undefined
  const turn = (by: number) => {
    const next = new Date(month.getFullYear(), month.getMonth() + by, 1)
    setLook({ month: dayName(next).slice(0, 7) })
  }
  const move = (entity: Entity, day: string) => {
    const value = onDay(noun, field, day, entity[field])
    if (value !== entity[field]) void saveFields(noun, entity, { [field]: value }).catch(sayError)
  }
  const press = (event: KeyboardEvent, entity: Entity, day: Date) => {
    const by = event.shiftKey ? STEPS[event.key] : undefined
    if (by === undefined || !writes) return
    event.preventDefault()
    event.stopPropagation()
    move(entity, dayName(moved(day, by)))
  }
  const today = dayName(new Date())
  const entry = (entity: Entity, onKeyDown: (event: KeyboardEvent) => void) => (
    <a
      class={`entry tone-${toneIn(question, entity)}`}
      href={href([noun.name, entity.$id])}
      title={titleOf(entity, noun)}
      onKeyDown={onKeyDown}
      onDragStart={(event) => event.preventDefault()}
      onPointerDown={(event) =>
        writes &&
        followDrag(event, () => null, {
          onStart: () => undefined,
          onMove: (x, y) => setOver(dayAt(document.elementFromPoint(x, y))),
          onEnd: (element) => {
            const target = dayAt(element)
            setOver(null)
            if (target !== null) move(entity, target)
          },
        })
      }
    >
      {titleOf(entity, noun)}
    </a>
  )
  // What has no day begins with today, or with the month that is shown.
  const begin = days.some((day) => dayName(day) === today) ? dayNamed(today)! : month
  const begins = (event: KeyboardEvent, entity: Entity) => {
    if (!event.shiftKey || STEPS[event.key] === undefined || !writes) return
    event.preventDefault()
    event.stopPropagation()
    move(entity, dayName(begin))
  }
  return (
    <>
      <div class="calendar-head">
        <button type="button" class="icon-only" aria-label={t('Previous month')} onClick={() => turn(-1)}>
          <Icon name="left" />
        </button>
        <button type="button" onClick={() => setLook({ month: null })}>
          {t('Today')}
        </button>
        <button type="button" class="icon-only" aria-label={t('Next month')} onClick={() => turn(1)}>
          <Icon name="right" />
        </button>
        <h2 aria-live="polite">{monthYearText(dayName(month))}</h2>
        {fields.length > 1 && (
          <select
            aria-label={t('Days of')}
            value={field}
            onChange={(event) => setLook({ group: event.currentTarget.value })}
          >
            {fields.map((name) => (
              <option key={name} value={name}>
                {labelOf(name)}
              </option>
            ))}
          </select>
        )}
      </div>
      <Failure error={found.error} onRetry={found.reload} />
      {!found.value && !found.error && <Skeleton rows={8} />}
      {isPlan(field) && (
        <Undated question={question} field={field}>
          {(entity) => entry(entity, (event) => begins(event, entity))}
        </Undated>
      )}
      <section class="calendar" aria-label={t('{} by {}', labelOf(noun.path), inSentence(field))}>
        {days.slice(0, 7).map((day) => (
          <span key={day.getDay()} class="weekday" aria-hidden="true">
            {weekdayText(dayName(day))}
          </span>
        ))}
        {days.map((day) => {
          const name = dayName(day)
          const entities = found.value?.get(name) ?? []
          return (
            <section
              key={name}
              class={`day${day.getMonth() === month.getMonth() ? '' : ' other'}${name === today ? ' today' : ''}${over === name ? ' over' : ''}${entities.length === 0 ? ' free' : ''}`}
              aria-label={dateText(name)}
              data-day={name}
            >
              <header>
                <span class="day-number">{numberText(day.getDate())}</span>
                <span class="day-name">{dateText(name)}</span>
                {canCreate && (
                  <button
                    type="button"
                    class="quiet icon-only"
                    aria-label={t('New {} on {}', singular(noun), dateText(name))}
                    onClick={() => setCreating(name)}
                  >
                    <Icon name="plus" />
                  </button>
                )}
              </header>
              <ul>
                {entities.slice(0, SHOWN).map((entity) => (
                  <li key={entity.$id}>{entry(entity, (event) => press(event, entity, day))}</li>
                ))}
              </ul>
              {entities.length > SHOWN && (
                <a class="more" href={href([noun.name], { filter: JSON.stringify(dayFilter(question, field, name)) })}>
                  {t('{} more', numberText(entities.length - SHOWN))}
                </a>
              )}
            </section>
          )
        })}
      </section>
      {creating !== null && (
        <CreateDialog
          noun={noun}
          preset={{ [field]: onDay(noun, field, creating, undefined) }}
          onClose={() => setCreating(null)}
        />
      )}
    </>
  )
}

/** What is not done and has no day yet, to be put on one. */
function Undated(props: { question: Question; field: string; children: (entity: Entity) => ComponentChildren }) {
  const { question, field } = props
  const { noun, time } = question
  const filter = { $and: [question.filter, openFilter(noun), { [field]: null }] }
  const found = useData<Page>(
    ['undated', noun.name, filter, time],
    (signal) =>
      request('GET', `/${noun.name}`, {
        query: { filter, sort: '-$updatedAt', limit: UNDATED, asOf: time ?? undefined },
        signal,
      }),
    { types: time === null ? [noun.name] : [] },
  )
  const { results = [], total = 0 } = found.value ?? {}
  if (results.length === 0) return null
  const name = t('Without {}', inSentence(field))
  return (
    <section class="undated" aria-label={name}>
      <h3>{name}</h3>
      <ul>
        {results.map((entity) => (
          <li key={entity.$id}>{props.children(entity)}</li>
        ))}
      </ul>
      {total > results.length && (
        <a class="more" href={href([noun.name], { filter: JSON.stringify(filter) })}>
          {t('{} more', numberText(total - results.length))}
        </a>
      )}
    </section>
  )
}

function dayAt(element: Element | null): string | null {
  return element?.closest<HTMLElement>('[data-day]')?.dataset.day ?? null
}

function toneIn({ noun }: Question, entity: Entity): string {
  const state = noun.stateField
  return state === null ? 'dim' : toneOf(String(entity[state]), wordsOf(noun.fields[state]))
}

function dayFilter({ noun, filter }: Question, field: string, day: string) {
  const bound = (date: Date) => (noun.fields[field]?.kind === 'date' ? dayName(date) : date.toISOString())
  const from = dayNamed(day)!
  return { ...filter, [field]: { $gte: bound(from), $lt: bound(moved(from, 1)) } }
}
