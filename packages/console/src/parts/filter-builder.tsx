import { useEffect, useId, useState } from 'preact/hooks'
import { type Condition, conditionsOf, operatorsFor, queryOf } from '../filter.ts'
import { labelOf } from '../format.ts'
import type { Field, Json, Noun } from '../schema.ts'

const META: readonly Field[] = ['$createdAt', '$updatedAt', '$createdBy', '$id'].map((name) => ({
  name,
  kind: name.endsWith('At') ? 'datetime' : 'string',
  list: false,
}))

/** Conditions, line by line, and the query that they make. */
export function FilterBuilder(props: {
  noun: Noun
  query: Json
  onChange: (query: { [field: string]: Json }) => void
}) {
  const { noun, onChange } = props
  const [lines, setLines] = useState<readonly Condition[]>(() => conditionsOf(props.query) ?? [])
  const [seen, setSeen] = useState(() => JSON.stringify(props.query))
  const now = JSON.stringify(props.query)
  useEffect(() => {
    // The address changed, by a link or the back button: show what it says.
    if (now === seen) return
    setSeen(now)
    setLines(conditionsOf(props.query) ?? [])
  }, [now, seen, props.query])
  const fields = [
    ...Object.values(noun.fields).filter(({ kind }) => kind !== 'back' && kind !== 'secret' && kind !== 'json'),
    ...META,
  ]
  const set = (next: readonly Condition[]) => {
    const query = queryOf(next, noun)
    setLines(next)
    setSeen(JSON.stringify(query))
    onChange(query)
  }
  const add = () => set([...lines, { field: noun.stateField ?? fields[0]!.name, operator: '$eq', value: '' }])
  const change = (at: number, patch: Partial<Condition>) =>
    set(lines.map((line, n) => (n === at ? { ...line, ...patch } : line)))
  return (
    <fieldset class="filter-builder">
      <legend>Filter</legend>
      {lines.map((line, at) => (
        <Line
          key={at}
          line={line}
          fields={fields}
          onChange={(patch) => change(at, patch)}
          onRemove={() => set(lines.filter((_, n) => n !== at))}
        />
      ))}
      <div class="filter-foot">
        <button type="button" onClick={add}>
          + Condition
        </button>
        <code class="query-json" data-testid="query-json">
          {conditionsOf(props.query) === null ? `${now} (too rich for the builder)` : now}
        </code>
      </div>
    </fieldset>
  )
}

function Line(props: {
  line: Condition
  fields: readonly Field[]
  onChange: (patch: Partial<Condition>) => void
  onRemove: () => void
}) {
  const { line, fields, onChange } = props
  const id = useId()
  const field = fields.find(({ name }) => name === line.field)
  const takesValue = line.operator !== '$exists' && line.operator !== 'missing'
  const isChoice = field?.kind === 'enum' && (line.operator === '$eq' || line.operator === '$ne')
  return (
    <div class="filter-line">
      <select
        aria-label="Field"
        value={line.field}
        onChange={(event) => onChange({ field: event.currentTarget.value, value: '' })}
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
        onChange={(event) => onChange({ operator: event.currentTarget.value })}
      >
        {operatorsFor(field?.kind ?? 'string').map(({ name, label }) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
      {takesValue && isChoice && (
        <select
          id={id}
          aria-label="Value"
          value={line.value}
          onChange={(event) => onChange({ value: event.currentTarget.value })}
        >
          <option value="">choose…</option>
          {field.values?.map((word) => (
            <option key={word} value={word}>
              {labelOf(word)}
            </option>
          ))}
        </select>
      )}
      {takesValue && !isChoice && (
        <input
          id={id}
          aria-label="Value"
          value={line.value}
          placeholder={line.operator === '$in' || line.operator === '$nin' ? 'a, b, c' : 'value'}
          onInput={(event) => onChange({ value: event.currentTarget.value })}
        />
      )}
      <button type="button" class="quiet" aria-label="Remove condition" onClick={props.onRemove}>
        ×
      </button>
    </div>
  )
}
