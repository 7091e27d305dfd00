import type { Field, Json } from '@tildebase/nouns'
import { Fragment } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { Arrow } from '../parts/arrow.tsx'
import { useData } from '../service/cache.ts'
import { t } from '../texts/text.ts'
import { Scroll } from '../ui/basics.tsx'
import { Failure } from '../ui/states.tsx'
import { dayText, inSentence, labelOf, momentText, numberText, shortText } from '../values/format.ts'
import { isRequired, isWritable, type Noun, plural, singular, wordsOf } from '../values/noun.ts'
import type { NumberFormat } from '../values/number-format.ts'
import {
  type ColumnPlan,
  cellsOf,
  cellValue,
  convertRow,
  guessPlan,
  LEFT_OUT,
  type Plan,
  unknownWords,
} from './convert.ts'
import type { DateFormat } from './date-format.ts'
import type { ImportSource } from './job.ts'
import type { Matches } from './match.ts'
import { type BadCells, createMissing, matchesOf, missingNames, relationColumns, rowsOf } from './plan-rows.ts'
import type { Table } from './read.ts'
import { creatable } from './relations.ts'

const NUMBERS: { readonly [format in NumberFormat]: string } = { point: '1,234.50', comma: '1.234,50' }
const DATES: { readonly [format in DateFormat]: string } = {
  ymd: 'year-month-day',
  dmy: 'day.month.year',
  mdy: 'month/day/year',
}
const SAMPLES = 3
const SAMPLE_LENGTH = 24
const NO_MATCHES: Matches = new Map()

/** Which column fills which field, how its cells are read, and what cannot be read. */
export function ImportMapping(props: {
  noun: Noun
  table: Table
  isBusy: boolean
  onRun: (dryRun: boolean, source: Omit<ImportSource, 'file'>) => void
}) {
  const { noun, table } = props
  const [plan, setPlan] = useState<Plan>(() => guessPlan(noun, table))
  const [badCells, setBadCells] = useState<BadCells>('reject')
  const fields = Object.values(noun.fields).filter(isWritable)
  const taken = new Map(
    Object.entries(plan).flatMap(([column, { field }]) => (field === null ? [] : [[field, column]])),
  )
  const missing = fields.filter((field) => isRequired(field) && !hasDefault(field) && !taken.has(field.name))
  const relations = relationColumns(noun, plan)
  const found = useData<Matches>(
    ['import matches', noun.name, relations.map(([column, { name }]) => [column, name]), table.rows.length],
    relations.length === 0 ? null : () => matchesOf(noun, plan, table),
  )
  const matches = found.value ?? NO_MATCHES
  const isReady = relations.length === 0 || (found.value !== null && !found.isPrevious)
  const converted = useMemo(
    () => table.rows.map((row) => convertRow(noun, plan, row, matches)),
    [noun, plan, table, matches],
  )
  const cells = useMemo(() => new Map(table.columns.map((column) => [column, cellsOf(table.rows, column)])), [table])
  const bad = converted.filter((row) => row.bad.length > 0).length
  const set = (column: string, patch: Partial<ColumnPlan>) =>
    setPlan((old) => ({ ...old, [column]: { ...old[column]!, ...patch } }))
  const run = (dryRun: boolean) =>
    props.onRun(dryRun, {
      ...rowsOf(converted, table, badCells),
      table,
      columns: Object.fromEntries(taken),
      prepare: (correlation) => createMissing(noun, plan, table, matches, badCells, correlation),
    })
  return (
    <>
      <p class="hint">{t('Choose the field for each column, and check how its cells are read.')}</p>
      <Scroll label={t('Columns of the file')}>
        <table class="grid mapping">
          <thead>
            <tr>
              <th scope="col">{t('Column')}</th>
              <th scope="col">{t('Field')}</th>
              <th scope="col">{t('Cells are read as')}</th>
            </tr>
          </thead>
          <tbody>
            {table.columns.map((column) => (
              <ColumnLine
                key={column}
                noun={noun}
                column={column}
                cells={cells.get(column)!}
                how={plan[column]!}
                fields={fields.filter(({ name }) => !taken.has(name) || taken.get(name) === column)}
                matches={matches}
                isReady={isReady}
                onChange={(patch) => set(column, patch)}
              />
            ))}
          </tbody>
        </table>
      </Scroll>
      <Failure error={found.error} onRetry={found.reload} />
      {missing.length > 0 && (
        <p class="notice" role="status">
          {t(
            'No column fills {}, which every row of {} needs.',
            missing.map(({ name }) => inSentence(name)).join(', '),
            plural(noun),
          )}
        </p>
      )}
      {bad > 0 && isReady && (
        <label class="notice bad-cells">
          {t('{} {} that cannot be read:', numberText(bad), bad === 1 ? t('row has a cell') : t('rows have cells'))}{' '}
          <select value={badCells} onChange={(event) => setBadCells(event.currentTarget.value as BadCells)}>
            <option value="reject">{t('do not import these rows')}</option>
            <option value="leave out">{t('import them without these cells')}</option>
          </select>
        </label>
      )}
      <footer class="import-actions">
        <button type="button" aria-busy={props.isBusy} disabled={!isReady} onClick={() => run(true)}>
          {t('Check without writing')}
        </button>
        <button type="button" class="primary" aria-busy={props.isBusy} disabled={!isReady} onClick={() => run(false)}>
          {t('Import {} {}', numberText(table.rows.length), table.rows.length === 1 ? t('row') : t('rows'))}
        </button>
      </footer>
    </>
  )
}

interface LineProps {
  readonly noun: Noun
  readonly column: string
  readonly cells: readonly string[]
  readonly how: ColumnPlan
  readonly fields: readonly Field[]
  readonly matches: Matches
  readonly isReady: boolean
  readonly onChange: (patch: Partial<ColumnPlan>) => void
}

function ColumnLine(props: LineProps) {
  const { noun, column, cells, how, fields, onChange } = props
  const field = how.field === null ? undefined : noun.fields[how.field]
  return (
    <tr>
      <th scope="row">
        <span class="heading">{column}</span>
        <span class="hint">
          {[...new Set(cells)].slice(0, SAMPLES).map((cell, at) => (
            <Fragment key={cell}>
              {at > 0 && ' · '}
              <bdi>{shortText(cell, SAMPLE_LENGTH)}</bdi>
            </Fragment>
          ))}
        </span>
      </th>
      <td>
        <select
          aria-label={t('Field for {}', column)}
          value={how.field ?? ''}
          onChange={(event) => onChange({ field: event.currentTarget.value || null, words: {} })}
        >
          <option value="">{t('leave out')}</option>
          {fields.map(({ name }) => (
            <option key={name} value={name}>
              {labelOf(name)}
            </option>
          ))}
        </select>
      </td>
      <td class="wrap">{field && <Reading {...props} field={field} />}</td>
    </tr>
  )
}

/** How the cells of a column are read, with an example, and what people can change about it. */
function Reading({ column, cells, how, field, matches, isReady, onChange }: LineProps & { field: Field }) {
  const readings = useMemo(
    () => cells.map((cell) => cellValue(field, cell, how, matches)),
    [cells, field, how, matches],
  )
  const wrong = readings.filter((one) => 'reason' in one)
  const unknown = unknownWords(field, cells)
  const at = exampleAt(field, cells)
  const example = at < 0 ? undefined : readings[at]
  const isTime = field.kind === 'date' || field.kind === 'datetime'
  return (
    <div class="reading">
      {field.kind === 'number' && (
        <select
          aria-label={t('Numbers of {}', column)}
          value={how.numbers.format}
          onChange={(event) =>
            onChange({ numbers: { format: event.currentTarget.value as NumberFormat, isSure: true } })
          }
        >
          {Object.entries(NUMBERS).map(([format, label]) => (
            <option key={format} value={format}>
              {label}
            </option>
          ))}
        </select>
      )}
      {isTime && (
        <select
          aria-label={t('Dates of {}', column)}
          value={how.dates.format}
          onChange={(event) => onChange({ dates: { format: event.currentTarget.value as DateFormat, isSure: true } })}
        >
          {Object.entries(DATES).map(([format, label]) => (
            <option key={format} value={format}>
              {label}
            </option>
          ))}
        </select>
      )}
      {field.kind !== 'forward' && example && 'value' in example && example.value !== undefined && (
        <span class="example">
          <bdi>{cells[at]}</bdi> <Arrow /> <b dir="auto">{exampleText(field, example.value)}</b>
        </span>
      )}
      {((field.kind === 'number' && !how.numbers.isSure) || (isTime && !how.dates.isSure)) && (
        <span class="state tone-wait">{t('Both ways are possible: check the example')}</span>
      )}
      {field.kind === 'forward' && <Relation {...{ column, field, how, matches, isReady, onChange }} />}
      {unknown.length > 0 && (
        <ul class="words">
          {unknown.slice(0, 20).map((word) => (
            <li key={word}>
              <span>{word}</span>
              <select
                aria-label={t('Meaning of {}', word)}
                value={how.words[word] ?? ''}
                onChange={(event) => onChange({ words: { ...how.words, [word]: event.currentTarget.value } })}
              >
                <option value="">{t('choose…')}</option>
                {wordsOf(field).map((one) => (
                  <option key={one} value={one}>
                    {labelOf(one)}
                  </option>
                ))}
                <option value={LEFT_OUT}>{t('leave empty')}</option>
              </select>
            </li>
          ))}
        </ul>
      )}
      {wrong.length > 0 && isReady && (
        <span class="state tone-bad">
          {t('{} cannot be read{}', numberText(wrong.length), 'reason' in wrong[0]! ? `: ${wrong[0].reason}` : '')}
        </span>
      )}
    </div>
  )
}

function Relation(props: Pick<LineProps, 'column' | 'how' | 'matches' | 'isReady' | 'onChange'> & { field: Field }) {
  const { field, how, matches, isReady, onChange } = props
  if (field.kind !== 'forward') return null
  if (!isReady) return <span class="hint">{t('Looking for them…')}</span>
  const missing = missingNames(field, matches)
  const target = creatable(field)
  return (
    <>
      <span class="hint">{t('Found by name, e-mail address or id.')}</span>
      {missing.length > 0 && target && (
        <label class="check">
          <input
            type="checkbox"
            checked={how.creates}
            onChange={(event) => onChange({ creates: event.currentTarget.checked })}
          />{' '}
          {t(
            'Create {} missing {}',
            numberText(missing.length),
            missing.length === 1 ? singular(target) : plural(target),
          )}
        </label>
      )}
    </>
  )
}

/** The cell that shows best how the column is read: one whose two readings differ. */
function exampleAt(field: Field, cells: readonly string[]): number {
  const telling = field.kind === 'number' ? /\d[.,]\d/ : /\d[./-]\d/
  const at = cells.findIndex((cell) => telling.test(cell))
  return at < 0 ? (cells.length > 0 ? 0 : -1) : at
}

function exampleText(field: Field, value: Json): string {
  if (typeof value === 'number') return numberText(value)
  if (field.kind === 'date') return dayText(String(value))
  if (field.kind === 'datetime') return momentText(String(value))
  return shortText(value, 40)
}

function hasDefault(field: { readonly kind: string }): boolean {
  return (field as { default?: unknown }).default !== undefined
}
