import '../../style/pages/events.css'
import '../../style/pages/code.css'
import type { WorkflowTest } from '@tildebase/client'
import type { JsonObject } from '@tildebase/nouns'
import { useState } from 'preact/hooks'
import { type LoggedEvent, loadEvents } from '../events/event-log.ts'
import { WrittenEvents } from '../events/written-events.tsx'
import { State } from '../parts/value.tsx'
import { useData, useSettled } from '../service/cache.ts'
import { nouns, titleOf } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { Act } from '../ui/basics.tsx'
import { SelectField } from '../ui/inputs.tsx'
import { FoldedJson } from '../ui/json-text.tsx'
import { Failure } from '../ui/states.tsx'
import { agoText } from '../values/format.ts'
import { fieldsOf, type WorkflowDraft } from './draft.ts'

const STATES = ['Pending', 'Succeeded', 'Failed', 'Skipped']
const NEWEST = 10

/** Tries a draft on a real event without a trace, and shows what each step would do. */
export function Trial({ workflow, draft }: { workflow: string; draft: WorkflowDraft }) {
  const pattern = useSettled(draft.event.trim(), 300)
  const events = useData<readonly LoggedEvent[]>(
    ['trial events', pattern],
    pattern === '' ? null : async (signal) => (await loadEvents({ ...NEWEST_EVENTS, pattern }, signal)).events,
    { types: ['*'] },
  )
  const found = events.value ?? []
  const [chosen, setChosen] = useState('')
  const [outcome, setOutcome] = useState<WorkflowTest | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const event = found.find(({ id }) => id === chosen)?.id ?? found[0]?.id ?? madeUp(pattern)
  // Before the events are there, it would be tried on none.
  const isLooking = pattern !== draft.event.trim() || (pattern !== '' && (events.isPrevious || events.loading))
  const run = () =>
    request<WorkflowTest>('POST', `/Workflow/${workflow}/test`, {
      body: { workflow: fieldsOf(draft), ...(event !== null && { event }) },
    }).then(
      (answer) => {
        setOutcome(answer)
        setError(null)
      },
      (reason) => {
        setOutcome(null)
        setError(reason)
      },
    )
  return (
    <section class="preview" aria-label={t('Effect')}>
      <h2>{t('Effect')}</h2>
      {found.length > 0 && (
        <SelectField
          label={t('Try it on')}
          value={typeof event === 'string' ? event : ''}
          options={found.map((one) => ({ value: one.id, label: eventText(one) }))}
          onChange={setChosen}
        />
      )}
      {pattern !== '' && events.value && found.length === 0 && (
        <p class="hint">{t('No such event has happened yet: it is tried on one without data.')}</p>
      )}
      <Act onRun={run} disabled={isLooking}>
        {t('Try it without a trace')}
      </Act>
      <Failure error={error} />
      {outcome && <Steps outcome={outcome} />}
    </section>
  )
}

const NEWEST_EVENTS = { time: null, cursor: null, limit: NEWEST, verbsOnly: true }

function Steps({ outcome }: { outcome: WorkflowTest }) {
  return (
    <div role="status">
      <p class={outcome.matches ? '' : 'notice'}>
        {outcome.matches || outcome.event.type === 'Workflow.scheduled'
          ? t('It would run, and {}.', outcome.status === 'Succeeded' ? t('succeed') : t('fail'))
          : t('It would not run for this event: the event or the filter does not fit. Its steps would do this:')}
      </p>
      <ol class="attempts">
        {outcome.steps.map(({ step, status, type, verb, error, input, output }) => (
          <li key={step}>
            <State value={status} values={STATES} /> {verb ? `${type}.${verb}` : 'code'} {error}
            <FoldedJson value={{ input, output }} label={t('Step {}', step)} />
          </li>
        ))}
      </ol>
      <WrittenEvents events={outcome.events} />
    </div>
  )
}

function eventText(event: LoggedEvent): string {
  return `${event.type} · ${titleOf(event.data, nouns.value.get(event.entityType))} · ${agoText(event.timestamp)}`
}

/** An event that has not happened; null for a schedule, which needs none. */
function madeUp(pattern: string): JsonObject | null {
  return pattern === '' ? null : { type: pattern, data: {} }
}
