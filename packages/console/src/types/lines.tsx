import '../../style/pages/filter.css'
import '../../style/pages/records.css'
import { t } from '../texts/text.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { labelOf } from '../values/format.ts'
import { type FieldKind, type FieldRow, NAMED, type VerbRow, wordsIn } from './notation.ts'

/** The kinds of fields, as people call them. */
export const KINDS: readonly { readonly value: FieldKind; readonly label: string }[] = [
  { value: 'string', label: t('Text') },
  { value: 'number', label: t('Number') },
  { value: 'boolean', label: t('Yes or no') },
  { value: 'date', label: t('Date') },
  { value: 'datetime', label: t('Date and time') },
  { value: 'enum', label: t('Choice') },
  { value: 'forward', label: t('Relation') },
  { value: 'json', label: 'JSON' },
  { value: 'file', label: t('File') },
  { value: 'computed', label: t('Computed') },
]

/** One field in the editor of a type. */
export function FieldLine(props: {
  row: FieldRow
  types: readonly string[]
  onChange: (patch: Partial<FieldRow>) => void
  onRemove: () => void
}) {
  const { row, onChange } = props
  const name = row.name || t('the new field')
  return (
    <tr>
      <td>
        <input
          aria-label={t('Field name')}
          required
          pattern={NAMED}
          title={t('A name has a letter from A to Z.')}
          placeholder={t('Due day')}
          value={row.name}
          onInput={(event) => onChange({ name: event.currentTarget.value })}
        />
      </td>
      <td data-label={t('Kind')}>
        <select
          aria-label={t('Kind of {}', name)}
          value={row.kind}
          onChange={(event) => onChange({ kind: event.currentTarget.value as FieldKind, fallback: '' })}
        >
          {KINDS.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </td>
      <td data-label={t('Of')}>
        {row.kind === 'enum' && (
          <input
            aria-label={t('Choices of {}', name)}
            required
            placeholder={t('Draft, Active, Done')}
            value={row.words}
            onInput={(event) => onChange({ words: event.currentTarget.value })}
          />
        )}
        {row.kind === 'number' && (
          <input
            aria-label={t('Range of {}', name)}
            pattern="-?[0-9.]*\.\.-?[0-9.]*"
            placeholder="0..100"
            value={row.range}
            onInput={(event) => onChange({ range: event.currentTarget.value })}
          />
        )}
        {row.kind === 'computed' && (
          <input
            aria-label={t('Formula of {}', name)}
            required
            placeholder="sum(items.amount)"
            value={row.formula}
            onInput={(event) => onChange({ formula: event.currentTarget.value })}
          />
        )}
        {row.kind === 'forward' && (
          <select
            aria-label={t('Target of {}', name)}
            required
            value={row.target}
            onChange={(event) => onChange({ target: event.currentTarget.value })}
          >
            <option value="">{t('choose…')}</option>
            {props.types.map((type) => (
              <option key={type} value={type}>
                {labelOf(type)}
              </option>
            ))}
          </select>
        )}
      </td>
      <td data-label={t('Required')}>
        <input
          type="checkbox"
          aria-label={t('{} is required', name)}
          checked={row.required}
          disabled={row.kind === 'computed'}
          onChange={(event) => onChange({ required: event.currentTarget.checked })}
        />
      </td>
      <td data-label={t('Several')}>
        <input
          type="checkbox"
          aria-label={t('{} holds several', name)}
          checked={row.list}
          disabled={row.kind === 'computed'}
          onChange={(event) => onChange({ list: event.currentTarget.checked })}
        />
      </td>
      <td data-label={t('Index')}>
        <select
          aria-label={t('Index of {}', name)}
          value={row.index}
          disabled={row.kind === 'forward' || row.kind === 'json' || row.kind === 'file'}
          onChange={(event) => onChange({ index: event.currentTarget.value as FieldRow['index'] })}
        >
          <option value="none">{t('none')}</option>
          <option value="indexed">{t('quick to filter')}</option>
          {row.kind !== 'computed' && <option value="unique">{t('unique')}</option>}
        </select>
      </td>
      <td data-label={t('Default')}>
        <input
          aria-label={t('Default of {}', name)}
          value={row.fallback}
          disabled={['forward', 'json', 'file', 'computed'].includes(row.kind)}
          onInput={(event) => onChange({ fallback: event.currentTarget.value })}
        />
      </td>
      <td class="row-actions">
        <button type="button" class="quiet icon-only" aria-label={t('Remove {}', name)} onClick={props.onRemove}>
          <Icon name="close" />
        </button>
      </td>
    </tr>
  )
}

/** One verb in the editor of a type. */
export function VerbLine(props: {
  row: VerbRow
  states: readonly string[]
  onChange: (patch: Partial<VerbRow>) => void
  onRemove: () => void
}) {
  const { row, onChange } = props
  const from = wordsIn(row.from)
  const starts = from.length === 0 ? t('from any state') : t('from {}', from.join(', '))
  const toggle = (state: string) =>
    onChange({ from: (from.includes(state) ? from.filter((one) => one !== state) : [...from, state]).join(', ') })
  return (
    <div class="filter-line">
      <input
        aria-label={t('Name of the action')}
        required
        pattern={NAMED}
        title={t('A name has a letter from A to Z.')}
        placeholder="approve"
        value={row.name}
        onInput={(event) => onChange({ name: event.currentTarget.value })}
      />
      <Menu
        class="select-like"
        align="start"
        name={`${row.name || t('The action')} ${starts}`}
        label={starts}
        items={props.states.map((state) => ({
          label: state,
          checked: from.includes(state),
          onSelect: () => toggle(state),
        }))}
      />
      <select
        aria-label={t('State after {}', row.name || t('the action'))}
        required
        value={row.to}
        onChange={(event) => onChange({ to: event.currentTarget.value })}
      >
        <option value="">{t('to…')}</option>
        {props.states.map((state) => (
          <option key={state} value={state}>
            {t('to {}', state)}
          </option>
        ))}
      </select>
      <button type="button" class="quiet icon-only" aria-label={t('Remove the action')} onClick={props.onRemove}>
        <Icon name="close" />
      </button>
    </div>
  )
}
