import '../../style/pages/tools.css'
import '../../style/pages/filter.css'
import { useId, useState } from 'preact/hooks'
import { useUnsaved } from '../drafts.ts'
import { FilterBuilder } from '../list/filter/filter-builder.tsx'
import { saveFields } from '../parts/forms/save.ts'
import { may } from '../service/rights.ts'
import { nouns } from '../service/schema.ts'
import { t } from '../texts/text.ts'
import { Labelled } from '../ui/basics.tsx'
import { SelectField, TextField } from '../ui/inputs.tsx'
import { Menu } from '../ui/menu.tsx'
import { Failure } from '../ui/states.tsx'
import type { Entity } from '../values/entity.ts'
import type { Noun } from '../values/noun.ts'
import { draftOf, fieldsOf, newStep, type StepRow, type WorkflowDraft } from './draft.ts'
import { STEP_KINDS, type StepKind } from './step-kinds.ts'
import { StepLine } from './step-line.tsx'
import { Trial } from './trial.tsx'

/** How long and how often a run tries. */
const LIMITS = [
  { name: 'retries', label: t('Tries again'), hint: t('How many times; none when empty'), pattern: '[0-9]+' },
  { name: 'backoff', label: t('After'), hint: t('30s, 2m; twice as long each time'), pattern: '[0-9.]+(ms|s|m|h|d)' },
  { name: 'timeout', label: t('At most'), hint: t('Seconds for the whole run'), pattern: '[0-9.]+' },
] as const

const ERRORS = [
  { value: 'Stop', label: t('stop, as failed') },
  { value: 'Continue', label: t('continue with the next step') },
  { value: 'Fallback', label: t('run the steps for failures') },
]

/** What starts a workflow and what it does, with a trial on a real event before it is saved. */
export function WorkflowEditor({ noun, entity }: { noun: Noun; entity: Entity }) {
  const id = useId()
  const [base, setBase] = useState(entity)
  const [draft, setDraft] = useState<WorkflowDraft>(() => draftOf(entity))
  const [error, setError] = useState<Error | null>(null)
  // Editors of code begin again when steps change places.
  const [edition, setEdition] = useState(0)
  const set = (patch: Partial<WorkflowDraft>) => setDraft((old) => ({ ...old, ...patch }))
  const isChanged = JSON.stringify(fieldsOf(draft)) !== JSON.stringify(fieldsOf(draftOf(base)))
  useUnsaved(isChanged)
  // What others save is shown, unless it would replace what is being edited.
  if (base.$version !== entity.$version && !isChanged) {
    setBase(entity)
    setDraft(draftOf(entity))
    setEdition((number) => number + 1)
  }
  const arrange = (steps: readonly StepRow[]) => {
    set({ steps })
    setEdition((number) => number + 1)
  }
  const setEvent = (event: string) => set({ event, ...(nounOf(event) !== nounOf(draft.event) && { filter: {} }) })
  const setStep = (at: number, patch: Partial<StepRow>) =>
    set({ steps: draft.steps.map((row, n) => (n === at ? { ...row, ...patch } : row)) })
  const move = (at: number, by: 1 | -1) => {
    const steps = [...draft.steps]
    const [row] = steps.splice(at, 1)
    arrange(steps.toSpliced(at + by, 0, row!))
  }
  const save = async () => {
    try {
      if (await saveFields(noun, base, fieldsOf(draft))) setBase({ ...base, ...fieldsOf(draft) })
      setError(null)
    } catch (reason) {
      setError(reason as Error)
    }
  }
  const subject = nounOf(draft.event)
  return (
    <form
      class="panel type-editor workflow-editor"
      aria-labelledby={`${id}-title`}
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <h2 id={`${id}-title`}>{t('What it does')}</h2>
      <div class="form-grid">
        <Labelled label={t('When this event comes')} for={`${id}-event`} hint="Deal.won, Deal.*, *.created">
          <input
            id={`${id}-event`}
            class="code"
            list={`${id}-events`}
            autocomplete="off"
            value={draft.event}
            onInput={(event) => setEvent(event.currentTarget.value)}
          />
        </Labelled>
        <TextField
          label={t('Or by this schedule')}
          hint={t('Cron with a time zone: 0 9 * * 1-5 Europe/Berlin')}
          class="code"
          value={draft.schedule}
          onChange={(schedule) => set({ schedule })}
        />
      </div>
      <datalist id={`${id}-events`}>
        {eventNames().map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {subject && (
        <>
          <h3>{t('Only if')}</h3>
          <FilterBuilder
            hasPeriods={false}
            key={subject.name}
            noun={subject}
            query={draft.filter}
            onChange={(filter) => set({ filter })}
          />
        </>
      )}
      <h3>{t('Steps')}</h3>
      {draft.steps.map((row, at) => (
        <StepLine
          key={`${edition} ${at}`}
          row={row}
          number={at}
          isLast={at === draft.steps.length - 1}
          hasFallback={draft.errorHandling === 'Fallback'}
          onChange={(patch) => setStep(at, patch)}
          onMove={(by) => move(at, by)}
          onRemove={() => arrange(draft.steps.toSpliced(at, 1))}
        />
      ))}
      <div class="actions">
        <Menu
          class="quiet"
          icon="plus"
          label={t('Step')}
          name={t('Add a step')}
          align="start"
          items={(Object.keys(STEP_KINDS) as StepKind[]).map((kind) => ({
            label: STEP_KINDS[kind],
            onSelect: () => set({ steps: [...draft.steps, newStep(kind)] }),
          }))}
        />
      </div>
      <p class="hint">
        {t('A value such as')} <code>$event.data.name</code> {t('or')} <code>$steps.0.$id</code>{' '}
        {t('is replaced by what it refers to.')}
      </p>
      <h3>{t('When a step fails')}</h3>
      <div class="form-grid">
        <SelectField
          label={t('After the last try')}
          value={draft.errorHandling}
          options={ERRORS}
          onChange={(errorHandling) => set({ errorHandling })}
        />
        {LIMITS.map(({ name, ...about }) => (
          <TextField
            key={name}
            {...about}
            value={draft[name]}
            onChange={(text) => setDraft({ ...draft, [name]: text })}
          />
        ))}
      </div>
      <Trial workflow={entity.$id} draft={draft} />
      <Failure error={error} />
      <footer>
        <button type="submit" class="primary" disabled={!isChanged}>
          {t('Save the workflow')}
        </button>
      </footer>
    </form>
  )
}

/** The type that an event is about, if it names one. */
function nounOf(event: string): Noun | undefined {
  return nouns.value.get(event.split('.')[0] ?? '')
}

/** The events of the types that the key may read. */
function eventNames(): string[] {
  const readable = [...nouns.value.values()].filter((noun) => may('read', noun))
  return readable.flatMap(({ name, verbs }) => Object.values(verbs).map(({ event }) => `${name}.${event}`))
}
