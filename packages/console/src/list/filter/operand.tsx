import type { Field, Json } from '@tildebase/nouns'
import { useId } from 'preact/hooks'
import { RelationPicker } from '../../parts/forms/relation-picker.tsx'
import { t } from '../../texts/text.ts'
import { InputNotes } from '../../ui/basics.tsx'
import { Menu } from '../../ui/menu.tsx'
import { labelOf } from '../../values/format.ts'
import { targetsOf, wordsOf } from '../../values/noun.ts'
import type { Condition } from './filter.ts'
import { PERIODS } from './periods.ts'

/** The input of a condition's value, for the type of the field. */
export function Operand({
  line,
  field,
  fault,
  onChange,
}: {
  line: Condition
  field: Field | undefined
  fault: string | null
  onChange: (value: string) => void
}) {
  const id = useId()
  const isList = line.operator === '$in' || line.operator === '$nin'
  const chosen = line.value
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
  if (field?.kind === 'forward') {
    const take = (value: Json) => onChange(Array.isArray(value) ? value.join(', ') : String(value ?? ''))
    return (
      <RelationPicker
        label={t('Value')}
        targets={targetsOf(field)}
        many={isList}
        value={isList ? chosen : line.value || null}
        onChange={take}
      />
    )
  }
  if (field?.kind === 'enum' && isList) {
    const words = chosen.map(labelOf).join(', ') || t('choose…')
    const toggle = (word: string) =>
      onChange((chosen.includes(word) ? chosen.filter((one) => one !== word) : [...chosen, word]).join(', '))
    return (
      <Menu
        class="select-like"
        align="start"
        name={t('Value: {}', words)}
        label={words}
        items={wordsOf(field).map((word) => ({
          label: labelOf(word),
          checked: chosen.includes(word),
          onSelect: () => toggle(word),
        }))}
      />
    )
  }
  const words = field?.kind === 'boolean' ? ['true', 'false'] : wordsOf(field)
  if (words.length > 0 && (line.operator === 'is' || line.operator === 'isNot')) {
    return (
      <select aria-label={t('Value')} value={line.value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{t('choose…')}</option>
        {words.map((word) => (
          <option key={word} value={word}>
            {word === 'true' ? t('Yes') : word === 'false' ? t('No') : labelOf(word)}
          </option>
        ))}
      </select>
    )
  }
  if (line.operator === 'during') {
    return (
      <select aria-label={t('Value')} value={line.value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{t('choose…')}</option>
        {PERIODS.map((period) => (
          <option key={period} value={period}>
            {labelOf(period)}
          </option>
        ))}
      </select>
    )
  }
  if (field?.kind === 'date' || field?.kind === 'datetime') {
    return (
      <input
        aria-label={t('Value')}
        type="date"
        value={line.value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    )
  }
  const isNumber = field?.kind === 'number'
  return (
    <span class="filter-value">
      <input
        aria-label={t('Value')}
        id={id}
        value={line.value}
        inputMode={isNumber ? 'decimal' : undefined}
        placeholder={isList ? (isNumber ? 'a; b; c' : 'a, b, c') : t('value')}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <InputNotes for={id} error={fault ?? undefined} />
    </span>
  )
}
