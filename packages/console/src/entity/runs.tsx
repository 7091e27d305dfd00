import '../../style/pages/events.css'
import type { RunStep, WorkflowRun } from '@tildebase/client'
import { useState } from 'preact/hooks'
import { State, Time } from '../parts/value.tsx'
import { href } from '../place.ts'
import { useData } from '../service/cache.ts'
import type { Page } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { say, sayError } from '../toast.ts'
import { Act } from '../ui/basics.tsx'
import { FoldedJson } from '../ui/json-text.tsx'
import { EmptyState, Failure } from '../ui/states.tsx'
import { agoText, momentText, numberText } from '../values/format.ts'
import { STEP_KINDS, type StepKind } from '../workflow/step-kinds.ts'

const STATES = ['Waiting', 'Running', 'Succeeded', 'Failed', 'Cancelled']
const STEP_STATES = ['Pending', 'Waiting', 'Running', 'Succeeded', 'Failed', 'Skipped']

/** The runs of a workflow, newest first, each with its steps. */
export function Runs({ workflow, writes }: { workflow: string; writes: boolean }) {
  const path = `/Workflow/${workflow}/runs`
  const found = useData<Page<WorkflowRun>>(
    ['runs', workflow],
    (signal) => request('GET', path, { query: { limit: 50 }, signal }),
    { types: ['*'] },
  )
  const act = (run: string, action: 'retry' | 'cancel') =>
    request('POST', `${path}/${run}/${action}`).then(() => {
      say(action === 'retry' ? t('It runs again.') : t('Cancelled.'))
      found.reload()
    }, sayError)
  const runs = found.value?.results ?? []
  return (
    <section class="panel" aria-labelledby="runs-title">
      <div class="panel-head">
        <h2 id="runs-title">{t('Runs')}</h2>
        <button type="button" class="quiet" onClick={found.reload}>
          {t('Refresh')}
        </button>
      </div>
      <Failure error={found.error} onRetry={found.reload} />
      {found.value && runs.length === 0 && <EmptyState title={t('It has not run yet')} />}
      <ol class="tail">
        {runs.map((run) => (
          <Line key={run.id} run={run} path={path} writes={writes} onAct={(action) => act(run.id, action)} />
        ))}
      </ol>
    </section>
  )
}

function Line(props: {
  run: WorkflowRun
  path: string
  writes: boolean
  onAct: (action: 'retry' | 'cancel') => Promise<unknown>
}) {
  const { run } = props
  const [open, setOpen] = useState(false)
  const hasFailed = run.status === 'Failed' || run.status === 'Cancelled'
  return (
    <li>
      <details onToggle={(toggled) => setOpen(toggled.currentTarget.open)}>
        <summary>
          {run.startedAt && <Time iso={run.startedAt} />}
          <State value={run.status} values={STATES} />
          <span class="event-type">{run.event?.type ?? run.trigger}</span>
          <span class="event-title">{run.error ?? nextText(run) ?? durationText(run)}</span>
        </summary>
        {open && (
          <div class="event-body">
            {props.writes && (
              <p>
                {hasFailed && run.retriedBy === null && <Act onRun={() => props.onAct('retry')}>{t('Retry')}</Act>}
                {run.endedAt === null && <Act onRun={() => props.onAct('cancel')}>{t('Cancel')}</Act>}
              </p>
            )}
            <Steps path={`${props.path}/${run.id}`} />
          </div>
        )}
      </details>
    </li>
  )
}

function Steps({ path }: { path: string }) {
  const found = useData<{ steps: readonly RunStep[] }>(['run', path], (signal) => request('GET', path, { signal }), {
    types: ['Workflow'],
  })
  return (
    <>
      <Failure error={found.error} onRetry={found.reload} />
      <ol class="attempts">
        {(found.value?.steps ?? []).map((step) => (
          <li key={step.step}>
            <State value={step.status} values={STEP_STATES} /> {stepText(step)} {durationText(step)} {step.error}
            {step.status === 'Waiting' && 'ask' in step && step.ask ? (
              <a href={href(['asks'])}>{t('Answer it')}</a>
            ) : null}
            {step.hidden !== true && step.output !== null && (
              <FoldedJson value={{ input: step.input, output: step.output }} label={t('Step {}', step.step)} />
            )}
          </li>
        ))}
      </ol>
    </>
  )
}

/** When a run that waits continues. */
function nextText({ status, nextAttemptAt, endedAt }: WorkflowRun): string | null {
  if (endedAt !== null || status !== 'Waiting') return null
  return nextAttemptAt === null
    ? t('Waits for an event or an answer')
    : t('Continues {}, {}', agoText(nextAttemptAt), momentText(nextAttemptAt))
}

/** What a step does, in a few words. */
function stepText(step: RunStep): string {
  const about = step as unknown as { readonly [part: string]: unknown }
  if (step.verb) return `${step.type}.${step.verb}`
  const kind = (Object.keys(STEP_KINDS) as StepKind[]).find((one) => about[one] !== undefined && about[one] !== null)
  const words = kind === 'wait' || kind === 'until' || kind === 'waitFor' ? ` ${String(about[kind])}` : ''
  return `${STEP_KINDS[kind ?? 'code']}${words}`
}

function durationText({ duration }: { readonly duration: number | null }): string {
  return duration === null ? '' : `${numberText(duration)} ms`
}
