import { t } from '../texts/text.ts'
import { Icon } from '../ui/icon.tsx'
import { LongTextField, SelectField, TextField } from '../ui/inputs.tsx'
import type { ArgRow, StepRow } from './draft.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((value) => ({ value, label: value }))
const FOR = t('Such as 30m, 12h or 3d')

interface Props {
  readonly row: StepRow
  readonly onChange: (patch: Partial<StepRow>) => void
}

/** The inputs of steps that call, wait, ask and send. */
export function PartFields({ row, onChange }: Props) {
  const text = (name: string) => row.parts[name] ?? ''
  const set = (name: string) => (value: string) => onChange({ parts: { ...row.parts, [name]: value } })
  const atMost = (
    <TextField
      label={t('At most')}
      hint={t('{}; without an end when empty', FOR)}
      value={text('timeout')}
      onChange={set('timeout')}
    />
  )
  switch (row.kind) {
    case 'request':
      return (
        <>
          <div class="form-grid">
            <SelectField label={t('Method')} value={text('method')} options={METHODS} onChange={set('method')} />
            <TextField
              label={t('Address')}
              required
              placeholder="https://example.com/hook"
              hint="$secrets.<name> uses a secret"
              value={text('url')}
              onChange={set('url')}
            />
          </div>
          <Rows row={row} name={t('Header')} value={t('Value')} onChange={onChange} />
          <LongTextField label={t('Body')} hint={t('JSON or text')} value={text('body')} onChange={set('body')} />
        </>
      )
    case 'wait':
      return <TextField label={t('For how long')} hint={FOR} required value={text('wait')} onChange={set('wait')} />
    case 'until':
      return (
        <TextField
          label={t('Until')}
          hint={t('A time, or a value of the event with + or − : $event.data.dueAt - 2d')}
          required
          value={text('until')}
          onChange={set('until')}
        />
      )
    case 'waitFor':
      return (
        <div class="form-grid">
          <TextField
            label={t('Until this event comes')}
            hint="Deal.won"
            required
            value={text('waitFor')}
            onChange={set('waitFor')}
          />
          {atMost}
        </div>
      )
    case 'ask':
      return (
        <>
          <div class="form-grid">
            <TextField label={t('Question')} required value={text('title')} onChange={set('title')} />
            <TextField
              label={t('Of whom')}
              hint="role:Finance, or $event.data.owner"
              required
              value={text('of')}
              onChange={set('of')}
            />
            {atMost}
          </div>
          <Rows row={row} name={t('Field to answer')} value="string, number, date, A | B" onChange={onChange} />
        </>
      )
    default:
      return <Rows row={row} name={t('Field of the message')} value={t('Value')} onChange={onChange} />
  }
}

/** Named values, line by line. */
function Rows(props: Props & { name: string; value: string }) {
  const { row, onChange } = props
  const setArg = (at: number, patch: Partial<ArgRow>) =>
    onChange({ args: row.args.map((one, n) => (n === at ? { ...one, ...patch } : one)) })
  return (
    <>
      {row.args.map((arg, at) => (
        <div class="filter-line" key={at}>
          <input
            aria-label={props.name}
            placeholder={props.name}
            required
            value={arg.name}
            onInput={(event) => setArg(at, { name: event.currentTarget.value })}
          />
          <input
            aria-label={t('Value of {}', arg.name || t('the line'))}
            placeholder={props.value}
            value={arg.text}
            onInput={(event) => setArg(at, { text: event.currentTarget.value })}
          />
          <button
            type="button"
            class="quiet icon-only"
            aria-label={t('Remove {}', arg.name || t('the line'))}
            onClick={() => onChange({ args: row.args.filter((_, n) => n !== at) })}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      <button type="button" class="quiet" onClick={() => onChange({ args: [...row.args, { name: '', text: '' }] })}>
        <Icon name="plus" /> {props.name}
      </button>
    </>
  )
}
