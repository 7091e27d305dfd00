import '../../../style/pages/filter.css'
import type { Field, Json } from '@tildebase/nouns'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { t } from '../../texts/text.ts'
import { Icon } from '../../ui/icon.tsx'
import { labelOf } from '../../values/format.ts'
import type { Noun } from '../../values/noun.ts'
import {
  type Condition,
  faultOf,
  firstOperator,
  type Group,
  groupOf,
  isGroup,
  operatorsFor,
  queryOf,
  refield,
  takesValue,
} from './filter.ts'
import { Operand } from './operand.tsx'
import { resolved } from './resolve.ts'

const META: readonly Field[] = ['$createdAt', '$updatedAt'].map((name) => ({
  name,
  kind: 'datetime',
  list: false,
  required: false,
  index: 'none',
  service: true,
}))

const EMPTY: Group = { mode: 'all', items: [] }

/** Conditions, line by line, and groups of them. */
export function FilterBuilder(props: {
  noun: Noun
  query: Json
  /** Whether named periods such as `this month` are offered. A query that the service keeps cannot have them. */
  hasPeriods?: boolean
  onChange: (query: { readonly [field: string]: Json }) => void
}) {
  const { noun, onChange, hasPeriods = true } = props
  const fields = fieldsOf(noun)
  const [group, setGroup] = useState<Group>(() => groupOf(props.query, noun) ?? EMPTY)
  const [seen, setSeen] = useState(() => JSON.stringify(props.query))
  const now = JSON.stringify(props.query)
  useLayoutEffect(() => {
    // The address changed, by a link or the back button: show what it says.
    if (now === seen) return
    setSeen(now)
    setGroup(groupOf(props.query, noun) ?? EMPTY)
  }, [now, seen, props.query])
  const set = (next: Group) => {
    const query = queryOf(next, noun)
    setGroup(next)
    setSeen(JSON.stringify(query))
    onChange(query)
  }
  const tooRich = groupOf(props.query, noun) === null
  const asQuery = resolved(JSON.parse(now) as { [field: string]: Json }, noun)
  return (
    <fieldset class="filter-builder">
      <legend class="unseen">{t('Filter')}</legend>
      <Lines group={group} fields={fields} hasPeriods={hasPeriods} first={firstOf(noun, fields)} onChange={set}>
        <details class="query-details" open={tooRich}>
          <summary>{tooRich ? t('This filter is written by hand') : t('As a query')}</summary>
          <code class="query-json" data-testid="query-json">
            {JSON.stringify(asQuery)}
          </code>
        </details>
      </Lines>
    </fieldset>
  )
}

interface LinesProps {
  readonly group: Group
  readonly fields: readonly Field[]
  readonly hasPeriods: boolean
  readonly first: Condition
  readonly onChange: (group: Group) => void
  readonly onRemove?: () => void
  /** What is next to the buttons. */
  readonly children?: ComponentChildren
}

function Lines({ group, fields, hasPeriods, first, onChange, onRemove, children }: LinesProps) {
  const { mode, items } = group
  const replace = (at: number, item: Condition | Group) =>
    onChange({ mode, items: items.map((one, n) => (n === at ? item : one)) })
  const remove = (at: number) => onChange({ mode, items: items.filter((_, n) => n !== at) })
  return (
    <>
      {items.length > 1 && (
        <label class="filter-mode">
          {t('Show what meets')}{' '}
          <select
            aria-label={t('How many conditions')}
            value={mode}
            onChange={(event) => onChange({ mode: event.currentTarget.value as Group['mode'], items })}
          >
            <option value="all">{t('all conditions')}</option>
            <option value="any">{t('any condition')}</option>
          </select>
        </label>
      )}
      {items.map((item, at) =>
        isGroup(item) ? (
          <fieldset class="filter-group" key={at}>
            <legend class="unseen">{t('Group of conditions')}</legend>
            <Lines
              group={item}
              fields={fields}
              hasPeriods={hasPeriods}
              first={first}
              onChange={(next) => replace(at, next)}
              onRemove={() => remove(at)}
            />
          </fieldset>
        ) : (
          <Line
            key={at}
            line={item}
            fields={fields}
            hasPeriods={hasPeriods}
            onChange={(next) => replace(at, next)}
            onRemove={() => remove(at)}
          />
        ),
      )}
      <div class="filter-foot">
        <button type="button" class="quiet" onClick={() => onChange({ mode, items: [...items, first] })}>
          <Icon name="plus" /> {t('Condition')}
        </button>
        {onRemove ? (
          <button type="button" class="quiet" onClick={onRemove}>
            {t('Remove the group')}
          </button>
        ) : (
          items.length > 0 && (
            <>
              <button
                type="button"
                class="quiet"
                onClick={() => onChange({ mode, items: [...items, { mode: 'any', items: [first, first] }] })}
              >
                <Icon name="plus" /> {t('Group of conditions')}
              </button>
              <button type="button" class="quiet" onClick={() => onChange(EMPTY)}>
                {t('Clear all')}
              </button>
            </>
          )
        )}
        {children}
      </div>
    </>
  )
}

function firstOf(noun: Noun, fields: readonly Field[]): Condition {
  const field = fields.find(({ name }) => name === noun.stateField) ?? fields[0]!
  return { field: field.name, operator: firstOperator(field.kind), value: '' }
}

function fieldsOf(noun: Noun): Field[] {
  const own = Object.values(noun.fields).filter(({ kind }) => kind !== 'back' && kind !== 'secret' && kind !== 'json')
  return [...own, ...META]
}

function Line(props: {
  line: Condition
  fields: readonly Field[]
  hasPeriods: boolean
  onChange: (line: Condition) => void
  onRemove: () => void
}) {
  const { line, fields, onChange } = props
  const field = fields.find(({ name }) => name === line.field)
  const kind = field?.kind ?? 'string'
  const kindOf = (name: string) => fields.find((one) => one.name === name)?.kind ?? 'string'
  const operators = operatorsFor(kind).filter(({ name }) => props.hasPeriods || name !== 'during')
  const fault = faultOf(line, kind)
  return (
    <div class="filter-line">
      <select
        aria-label={t('Field')}
        value={line.field}
        onChange={(event) => {
          const name = event.currentTarget.value
          onChange(refield(line, name, kindOf(name)))
        }}
      >
        {!field && <option value={line.field}>{labelOf(line.field)}</option>}
        {fields.map(({ name }) => (
          <option key={name} value={name}>
            {labelOf(name)}
          </option>
        ))}
      </select>
      <select
        aria-label={t('Comparison')}
        value={line.operator}
        onChange={(event) => {
          const operator = event.currentTarget.value
          const isPeriod = operator === 'during' || line.operator === 'during'
          onChange({ ...line, operator, value: isPeriod ? '' : line.value })
        }}
      >
        {operators.map(({ name, label }) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
      {takesValue(line) && (
        <Operand
          key={line.field}
          line={line}
          field={field}
          fault={fault}
          onChange={(value) => onChange({ ...line, value })}
        />
      )}
      <button type="button" class="quiet icon-only" aria-label={t('Remove condition')} onClick={props.onRemove}>
        <Icon name="close" />
      </button>
    </div>
  )
}
