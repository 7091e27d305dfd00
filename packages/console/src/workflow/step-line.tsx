import { lazy } from '../lazy.tsx'
import { HIDDEN_TYPES } from '../parts/frame/side.tsx'
import { may } from '../service/rights.ts'
import { nouns } from '../service/schema.ts'
import { t } from '../texts/text.ts'
import { Icon } from '../ui/icon.tsx'
import { SelectField, TextField } from '../ui/inputs.tsx'
import { JsonText } from '../ui/json-text.tsx'
import { Menu, type MenuItem } from '../ui/menu.tsx'
import { labelOf } from '../values/format.ts'
import type { ArgRow, StepRow } from './draft.ts'
import { PartFields } from './part-fields.tsx'
import { STEP_KINDS } from './step-kinds.ts'

const Editor = lazy(async () => (await import('../parts/forms/editor.tsx')).Editor)

/** One step of a workflow, with the inputs of its kind. */
export function StepLine(props: {
  row: StepRow
  number: number
  isLast: boolean
  /** Whether steps can be for failures only. */
  hasFallback: boolean
  onChange: (patch: Partial<StepRow>) => void
  onMove: (by: 1 | -1) => void
  onRemove: () => void
}) {
  const { row, number, onChange } = props
  const items: MenuItem[] = [
    ...(number > 0 ? [{ label: t('Move up'), onSelect: () => props.onMove(-1) }] : []),
    ...(props.isLast ? [] : [{ label: t('Move down'), onSelect: () => props.onMove(1) }]),
    { label: t('Remove'), icon: 'bin', danger: true, onSelect: props.onRemove },
  ]
  return (
    <fieldset class="step">
      <legend>
        {t('Step {} · {}', number + 1, STEP_KINDS[row.kind])} <code>$steps.{number}</code>
      </legend>
      <Menu
        class="quiet icon-only"
        label={<Icon name="more" />}
        name={t('Actions for step {}', number + 1)}
        items={items}
      />
      {row.kind === 'code' ? (
        <Editor
          label={t('Code of step {}', number + 1)}
          language="typescript"
          value={row.code}
          onChange={(code) => onChange({ code })}
        />
      ) : row.kind === 'verb' ? (
        <VerbFields {...props} />
      ) : (
        <PartFields {...props} />
      )}
      {Object.keys(row.kept).length > 0 && (
        <details>
          <summary>{t('Also: {}', Object.keys(row.kept).join(', '))}</summary>
          <JsonText label={t('More of step {}', number + 1)} value={row.kept} />
        </details>
      )}
      {props.hasFallback && (
        <label class="check">
          <input
            type="checkbox"
            checked={row.fallback}
            onChange={(event) => onChange({ fallback: event.currentTarget.checked })}
          />{' '}
          {t('Only after a failure')}
        </label>
      )}
    </fieldset>
  )
}

function VerbFields({ row, onChange }: { row: StepRow; onChange: (patch: Partial<StepRow>) => void }) {
  const types = [...nouns.value.values()].filter((noun) => may('write', noun) && !HIDDEN_TYPES.has(noun.name))
  const noun = nouns.value.get(row.type)
  const verbs = Object.keys(noun?.verbs ?? {})
  const setArg = (at: number, patch: Partial<ArgRow>) =>
    onChange({ args: row.args.map((one, n) => (n === at ? { ...one, ...patch } : one)) })
  return (
    <>
      <div class="form-grid">
        <SelectField
          label={t('Type')}
          isRequired
          value={row.type}
          options={types.map(({ name }) => ({ value: name, label: labelOf(name) }))}
          onChange={(type) => onChange({ type, verb: '' })}
        />
        <SelectField
          label={t('Action')}
          isRequired
          value={row.verb}
          options={verbs.map((verb) => ({ value: verb, label: labelOf(verb) }))}
          onChange={(verb) => onChange({ verb })}
        />
        {row.verb !== '' && row.verb !== 'create' && (
          <TextField
            label={t('Of the entry')}
            class="code"
            required
            placeholder="$event.data.$id"
            value={row.id}
            onChange={(id) => onChange({ id })}
          />
        )}
      </div>
      {row.args.map((arg, at) => (
        <div class="filter-line" key={at}>
          <select
            aria-label={t('Field')}
            required
            value={arg.name}
            onChange={(event) => setArg(at, { name: event.currentTarget.value })}
          >
            <option value="">{t('choose…')}</option>
            {namesFor(row, arg.name).map((name) => (
              <option key={name} value={name}>
                {labelOf(name)}
              </option>
            ))}
          </select>
          <input
            aria-label={t('Value of {}', arg.name || t('the field'))}
            class="code"
            placeholder="$event.data.name"
            value={arg.text}
            onInput={(event) => setArg(at, { text: event.currentTarget.value })}
          />
          <button
            type="button"
            class="quiet icon-only"
            aria-label={t('Remove {}', arg.name || t('the field'))}
            onClick={() => onChange({ args: row.args.filter((_, n) => n !== at) })}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      {noun && (
        <button type="button" class="quiet" onClick={() => onChange({ args: [...row.args, { name: '', text: '' }] })}>
          <Icon name="plus" /> {t('Field')}
        </button>
      )}
    </>
  )
}

/** The names that a verb takes: its own arguments and the fields of the type, and what is there already. */
function namesFor({ type, verb }: StepRow, known: string): string[] {
  const noun = nouns.value.get(type)
  const args = noun?.verbs[verb]?.args ?? []
  const fields = Object.values(noun?.fields ?? {}).filter(({ kind }) => kind !== 'back' && kind !== 'secret')
  return [...new Set([...args, ...fields.map(({ name }) => name), ...(known === '' ? [] : [known])])]
}
