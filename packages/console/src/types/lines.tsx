import '../../style/pages/filter.css'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { type FieldKind, type FieldRow, type VerbRow, wordsIn } from './notation.ts'

const KINDS: readonly { readonly value: FieldKind; readonly label: string }[] = [
  { value: 'string', label: 'Text' },
  { value: 'number', label: 'Number' },
  { value: 'boolean', label: 'Yes or no' },
  { value: 'date', label: 'Date' },
  { value: 'datetime', label: 'Date and time' },
  { value: 'enum', label: 'Choice' },
  { value: 'forward', label: 'Relation' },
  { value: 'json', label: 'JSON' },
  { value: 'file', label: 'File' },
  { value: 'computed', label: 'Computed' },
]

/** One field in the editor of a type. */
export function FieldLine(props: {
  row: FieldRow
  types: readonly string[]
  onChange: (patch: Partial<FieldRow>) => void
  onRemove: () => void
}) {
  const { row, onChange } = props
  const name = row.name || 'the new field'
  return (
    <tr>
      <td>
        <input
          aria-label="Field name"
          required
          pattern="[A-Za-z_][A-Za-z0-9_]*"
          value={row.name}
          onInput={(event) => onChange({ name: event.currentTarget.value })}
        />
      </td>
      <td>
        <select
          aria-label={`Kind of ${name}`}
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
      <td>
        {row.kind === 'enum' && (
          <input
            aria-label={`Choices of ${name}`}
            required
            placeholder="Draft, Active, Done"
            value={row.words}
            onInput={(event) => onChange({ words: event.currentTarget.value })}
          />
        )}
        {row.kind === 'number' && (
          <input
            aria-label={`Range of ${name}`}
            pattern="-?[0-9.]*\.\.-?[0-9.]*"
            placeholder="0..100"
            value={row.range}
            onInput={(event) => onChange({ range: event.currentTarget.value })}
          />
        )}
        {row.kind === 'computed' && (
          <input
            aria-label={`Formula of ${name}`}
            required
            placeholder="sum(items.amount)"
            value={row.formula}
            onInput={(event) => onChange({ formula: event.currentTarget.value })}
          />
        )}
        {row.kind === 'forward' && (
          <select
            aria-label={`Target of ${name}`}
            required
            value={row.target}
            onChange={(event) => onChange({ target: event.currentTarget.value })}
          >
            <option value="">choose…</option>
            {props.types.map((type) => (
              <option key={type}>{type}</option>
            ))}
          </select>
        )}
      </td>
      <td>
        <input
          type="checkbox"
          aria-label={`${name} is required`}
          checked={row.required}
          disabled={row.kind === 'computed'}
          onChange={(event) => onChange({ required: event.currentTarget.checked })}
        />
      </td>
      <td>
        <input
          type="checkbox"
          aria-label={`${name} holds several`}
          checked={row.list}
          disabled={row.kind === 'enum' || row.kind === 'computed'}
          onChange={(event) => onChange({ list: event.currentTarget.checked })}
        />
      </td>
      <td>
        <select
          aria-label={`Index of ${name}`}
          value={row.index}
          disabled={row.kind === 'forward' || row.kind === 'json' || row.kind === 'file'}
          onChange={(event) => onChange({ index: event.currentTarget.value as FieldRow['index'] })}
        >
          <option value="none">none</option>
          <option value="indexed">quick to filter</option>
          {row.kind !== 'computed' && <option value="unique">unique</option>}
        </select>
      </td>
      <td>
        <input
          aria-label={`Default of ${name}`}
          value={row.fallback}
          disabled={['forward', 'json', 'file', 'computed'].includes(row.kind)}
          onInput={(event) => onChange({ fallback: event.currentTarget.value })}
        />
      </td>
      <td class="row-actions">
        <button type="button" class="quiet icon-only" aria-label={`Remove ${name}`} onClick={props.onRemove}>
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
  const starts = from.length === 0 ? 'from any state' : `from ${from.join(', ')}`
  const toggle = (state: string) =>
    onChange({ from: (from.includes(state) ? from.filter((one) => one !== state) : [...from, state]).join(', ') })
  return (
    <div class="filter-line">
      <input
        aria-label="Verb name"
        required
        pattern="[a-z][A-Za-z0-9]*"
        placeholder="approve"
        value={row.name}
        onInput={(event) => onChange({ name: event.currentTarget.value })}
      />
      <Menu
        class="select-like"
        align="start"
        name={`${row.name || 'The verb'} ${starts}`}
        label={starts}
        items={props.states.map((state) => ({
          label: state,
          checked: from.includes(state),
          onSelect: () => toggle(state),
        }))}
      />
      <select
        aria-label={`State after ${row.name || 'the verb'}`}
        required
        value={row.to}
        onChange={(event) => onChange({ to: event.currentTarget.value })}
      >
        <option value="">to…</option>
        {props.states.map((state) => (
          <option key={state} value={state}>
            to {state}
          </option>
        ))}
      </select>
      <button type="button" class="quiet icon-only" aria-label="Remove the verb" onClick={props.onRemove}>
        <Icon name="close" />
      </button>
    </div>
  )
}
