import '../../style/pages/filter.css'
import type { Field, Json } from '@tildebase/nouns'
import { useLayoutEffect, useState } from 'preact/hooks'
import { Icon } from '../ui/icon.tsx'
import { labelOf } from '../values/format.ts'
import type { Noun } from '../values/noun.ts'
import { type Condition, conditionsOf, operatorsFor, queryOf, refield } from './filter.ts'
import { Operand } from './operand.tsx'

const META: readonly Field[] = ['$createdAt', '$updatedAt'].map((name) => ({
  name,
  kind: 'datetime',
  list: false,
  required: false,
  index: 'none',
  service: true,
}))

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
  useLayoutEffect(() => {
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
