import type { Field, Json } from '@tildebase/nouns'
import { useId } from 'preact/hooks'
import { RelationPicker } from '../parts/forms/relation-picker.tsx'
import { Menu } from '../ui/menu.tsx'
import { labelOf } from '../values/format.ts'
import { wordsOf } from '../values/noun.ts'
import type { Condition } from './filter.ts'

const TIMES = ['today', '7d ago', '30d ago', '90d ago']

/** The input of a condition's value, for the type of the field. */
export function Operand({
  line,
  field,
  onChange,
}: {
  line: Condition
  field: Field | undefined
  onChange: (value: string) => void
}) {
  const list = useId()
  const isList = line.operator === '$in' || line.operator === '$nin'
  const chosen = line.value
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
  if (field?.kind === 'forward' && line.operator !== '$regex') {
    const take = (value: Json) => onChange(Array.isArray(value) ? value.join(', ') : String(value ?? ''))
    return (
      <RelationPicker
        label="Value"
        target={field.target}
        many={isList}
        value={isList ? chosen : line.value || null}
        onChange={take}
      />
    )
  }
  if (field?.kind === 'enum' && isList) {
    const words = chosen.map(labelOf).join(', ') || 'choose…'
    const toggle = (word: string) =>
      onChange((chosen.includes(word) ? chosen.filter((one) => one !== word) : [...chosen, word]).join(', '))
    return (
      <Menu
        class="select-like"
        align="start"
        name={`Value: ${words}`}
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
  if (words.length > 0 && (line.operator === '$eq' || line.operator === '$ne')) {
    return (
      <select aria-label="Value" value={line.value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">choose…</option>
        {words.map((word) => (
          <option key={word} value={word}>
            {word === 'true' ? 'Yes' : word === 'false' ? 'No' : labelOf(word)}
          </option>
        ))}
      </select>
    )
  }
  const isTime = field?.kind === 'date' || field?.kind === 'datetime'
  return (
    <>
      <input
        aria-label="Value"
        value={line.value}
        inputMode={field?.kind === 'number' ? 'decimal' : undefined}
        list={isTime ? list : undefined}
        placeholder={isTime ? '2026-01-31, or 7d ago' : isList ? 'a, b, c' : 'value'}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      {isTime && (
        <datalist id={list}>
          {TIMES.map((time) => (
            <option key={time} value={time} />
          ))}
        </datalist>
      )}
    </>
  )
}
