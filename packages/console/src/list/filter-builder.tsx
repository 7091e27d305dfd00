import type { Field, Json } from '@tildebase/nouns'
import { useEffect, useId, useState } from 'preact/hooks'
import { type Condition, conditionsOf, operatorsFor, queryOf, refield } from '../filter.ts'
import { labelOf } from '../format.ts'
import { type Noun, wordsOf } from '../noun.ts'
import { RelationPicker } from '../parts/relation-picker.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'

const META: readonly Field[] = ['$createdAt', '$updatedAt'].map((name) => ({
  name,
  kind: 'datetime',
  list: false,
  required: false,
  index: 'none',
  service: true,
}))

const TIMES = ['today', '7d ago', '30d ago', '90d ago']

/** Conditions, line by line. */
export function FilterBuilder(props: {
  noun: Noun
  query: Json
  onChange: (query: { readonly [field: string]: Json }) => void
}) {
  const { noun, onChange } = props
  const fields = fieldsOf(noun)
  const first = { field: noun.stateField ?? fields[0]!.name, operator: '$eq', value: '' }
  const [lines, setLines] = useState<readonly Condition[]>(() => conditionsOf(props.query) ?? [])
  const [seen, setSeen] = useState(() => JSON.stringify(props.query))
  const now = JSON.stringify(props.query)
  useEffect(() => {
    // The address changed, by a link or the back button: show what it says.
    if (now === seen) return
    setSeen(now)
    setLines(conditionsOf(props.query) ?? [])
  }, [now, seen, props.query])
  const set = (next: readonly Condition[]) => {
    const query = queryOf(next, noun)
    setLines(next)
    setSeen(JSON.stringify(query))
    onChange(query)
  }
  const tooRich = conditionsOf(props.query) === null
  return (
    <fieldset class="filter-builder">
      <legend class="unseen">Filter</legend>
      {lines.map((line, at) => (
        <Line
          key={at}
          line={line}
          fields={fields}
          onChange={(next) => set(lines.map((one, n) => (n === at ? next : one)))}
          onRemove={() => set(lines.filter((_, n) => n !== at))}
        />
      ))}
      <div class="filter-foot">
        <button type="button" class="quiet" onClick={() => set([...lines, first])}>
          <Icon name="plus" /> Condition
        </button>
        {lines.length > 0 && (
          <button type="button" class="quiet" onClick={() => set([])}>
            Clear all
          </button>
        )}
        <details class="query-details" open={tooRich}>
          <summary>{tooRich ? 'This filter is written by hand' : 'As a query'}</summary>
          <code class="query-json" data-testid="query-json">
            {now}
          </code>
        </details>
      </div>
    </fieldset>
  )
}

function fieldsOf(noun: Noun): Field[] {
  const own = Object.values(noun.fields).filter(({ kind }) => kind !== 'back' && kind !== 'secret' && kind !== 'json')
  return [...own, ...META]
}

function Line(props: {
  line: Condition
  fields: readonly Field[]
  onChange: (line: Condition) => void
  onRemove: () => void
}) {
  const { line, fields, onChange } = props
  const field = fields.find(({ name }) => name === line.field)
  const takesValue = line.operator !== '$exists' && line.operator !== 'missing'
  const kindOf = (name: string) => fields.find((one) => one.name === name)?.kind ?? 'string'
  return (
    <div class="filter-line">
      <select
        aria-label="Field"
        value={line.field}
        onChange={(event) => {
          const name = event.currentTarget.value
          onChange(refield(line, name, kindOf(name)))
        }}
      >
        {!field && <option value={line.field}>{line.field}</option>}
        {fields.map(({ name }) => (
          <option key={name} value={name}>
            {labelOf(name)}
          </option>
        ))}
      </select>
      <select
        aria-label="Operator"
        value={line.operator}
        onChange={(event) => onChange({ ...line, operator: event.currentTarget.value })}
      >
        {operatorsFor(field?.kind ?? 'string').map(({ name, label }) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
      {takesValue && (
        <Operand key={line.field} line={line} field={field} onChange={(value) => onChange({ ...line, value })} />
      )}
      <button type="button" class="quiet icon-only" aria-label="Remove condition" onClick={props.onRemove}>
        <Icon name="close" />
      </button>
    </div>
  )
}

/** The input of a condition's value, as the field's kind wants it. */
function Operand({
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
