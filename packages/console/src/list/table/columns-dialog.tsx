import '../../../style/pages/bulk.css'
import { t } from '../../texts/text.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icon.tsx'
import { SelectField } from '../../ui/inputs.tsx'
import type { Noun } from '../../values/noun.ts'
import { allColumns, columnLabel, defaultColumns } from './columns.ts'
import { measuresOf, resetMeasures, setFrozen } from './measures.ts'

/** Which columns a list shows, and in which order. */
export function ColumnsDialog(props: {
  noun: Noun
  columns: readonly string[]
  onChange: (columns: readonly string[]) => void
  onClose: () => void
}) {
  const { noun, columns, onChange } = props
  const others = allColumns(noun).filter((name) => !columns.includes(name))
  const move = (at: number, step: number) => {
    const next = [...columns]
    const [one] = next.splice(at, 1)
    next.splice(at + step, 0, one!)
    onChange(next)
  }
  return (
    <Dialog title={t('Columns')} onClose={props.onClose}>
      <ol class="column-list" aria-label={t('Shown columns')}>
        {columns.map((name, at) => (
          <li key={name}>
            <label>
              <input
                type="checkbox"
                checked
                disabled={columns.length === 1}
                onChange={() => onChange(columns.filter((one) => one !== name))}
              />
              {columnLabel(noun, name)}
            </label>
            <button
              type="button"
              class="quiet icon-only"
              aria-label={t('Move {} left', columnLabel(noun, name))}
              disabled={at === 0}
              onClick={() => move(at, -1)}
            >
              <Icon name="left" />
            </button>
            <button
              type="button"
              class="quiet icon-only"
              aria-label={t('Move {} right', columnLabel(noun, name))}
              disabled={at === columns.length - 1}
              onClick={() => move(at, 1)}
            >
              <Icon name="right" />
            </button>
          </li>
        ))}
      </ol>
      <SelectField
        label={t('Stay in sight')}
        hint={t('The first columns do not move when the list scrolls to the side.')}
        value={String(measuresOf(noun).frozen)}
        options={[t('none'), t('the first'), t('the first two'), t('the first three')].map((label, count) => ({
          value: String(count),
          label,
        }))}
        onChange={(count) => setFrozen(noun, Number(count))}
      />
      <h3>{t('Hidden')}</h3>
      <ul class="column-list" aria-label={t('Hidden columns')}>
        {others.map((name) => (
          <li key={name}>
            <label>
              <input type="checkbox" checked={false} onChange={() => onChange([...columns, name])} />
              {columnLabel(noun, name)}
            </label>
          </li>
        ))}
      </ul>
      <footer>
        <button type="button" class="primary" onClick={props.onClose}>
          {t('Done')}
        </button>
        <button
          type="button"
          onClick={() => {
            resetMeasures(noun)
            onChange(defaultColumns(noun))
          }}
        >
          {t('Reset')}
        </button>
      </footer>
    </Dialog>
  )
}
