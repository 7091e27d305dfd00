import type { Json } from '@tildebase/nouns'
import { useState } from 'preact/hooks'
import { useData } from '../../service/cache.ts'
import { request } from '../../service/service.ts'
import { t } from '../../texts/text.ts'
import { Menu } from '../../ui/menu.tsx'
import { inSentence, isMoney, moneyText, numberText, sumsText } from '../../values/format.ts'
import type { Question } from '../question.ts'
import { columnLabel, isRight } from './columns.ts'

const MEASURES = { sum: t('Sum'), avg: t('Average'), min: t('Smallest'), max: t('Largest') } as const
type Measure = keyof typeof MEASURES
type Row = { readonly [name: string]: Json }

/** The foot of a table: what the numbers of a column come to, over all pages. */
export function Foot({
  question,
  columns,
  below,
  hasBoxes,
}: {
  question: Question
  columns: readonly string[]
  below: readonly string[]
  hasBoxes: boolean
}) {
  const { noun, filter, time } = question
  const numbers = [...columns, ...below].filter((name) => isRight(noun, name))
  const [chosen, setChosen] = useState<{ readonly [column: string]: Measure }>({})
  const group = noun.fields.currency && numbers.some(isMoney) ? 'currency' : undefined
  const found = useData<readonly Row[]>(
    ['foot', noun.name, filter, time, numbers],
    async (signal) => {
      const names = numbers.join(',')
      const { results } = await request<{ results: Row[] }>('GET', `/${noun.name}/aggregate`, {
        query: {
          group,
          ...Object.fromEntries(Object.keys(MEASURES).map((measure) => [measure, names])),
          filter: Object.keys(filter).length === 0 ? undefined : filter,
          asOf: time ?? undefined,
        },
        signal,
      })
      return results
    },
    { types: time === null ? [noun.name] : [] },
  )
  const rows = found.value ?? []
  const menuOf = (name: string) => {
    const measure = chosen[name] ?? (isRate(name) ? 'avg' : 'sum')
    const text = numbers.includes(name) ? measured(rows, measure, name) : null
    return (
      text !== null && (
        <Menu
          class="quiet foot-button"
          name={t('{} {}, of {}', MEASURES[measure], text, columnLabel(noun, name))}
          label={
            <>
              <span class="hint">{MEASURES[measure]}</span> {text}
            </>
          }
          items={Object.entries(MEASURES).map(([value, label]) => ({
            label: t('{} of {}', label, inSentence(name)),
            onSelect: () => setChosen({ ...chosen, [name]: value as Measure }),
          }))}
        />
      )
    )
  }
  // A telephone has the numbers below the titles, and their sums in one line.
  if (below.length > 0) {
    return (
      <tfoot>
        <tr>
          <td class="wrap" colSpan={columns.length + 2}>
            <span class="sums">
              {numbers.map((name) => (
                <span key={name}>{menuOf(name)}</span>
              ))}
            </span>
          </td>
        </tr>
      </tfoot>
    )
  }
  return (
    <tfoot>
      <tr>
        {hasBoxes && <td class="select" />}
        {columns.map((name) => (
          <td key={name} class={numbers.includes(name) ? 'right' : ''}>
            {menuOf(name)}
          </td>
        ))}
        <td class="row-actions" />
      </tr>
    </tfoot>
  )
}

/** Whether the numbers of a field say how much or how good one entry is: their sum means nothing. */
function isRate(name: string): boolean {
  return /(score|rate|ratio|probability|percent|percentage|rating|satisfaction|confidence|age)$/i.test(name)
}

/** A measure of a column in each currency; null while it is not known. */
function measured(rows: readonly Row[], measure: Measure, name: string): string | null {
  const parts = rows.flatMap((row) => {
    const value = (row[measure] as Row | undefined)?.[name]
    return typeof value === 'number' ? [{ currency: row.currency, sum: value }] : []
  })
  if (parts.length === 0) return null
  if (!isMoney(name))
    return numberText(
      total(
        parts.map(({ sum }) => sum),
        measure,
        rows,
      ),
    )
  return measure === 'sum' ? sumsText(parts) : parts.map(({ currency, sum }) => moneyText(sum, currency)).join(' · ')
}

/** One number of those of all currencies: for fields that are not money. */
function total(values: readonly number[], measure: Measure, rows: readonly Row[]): number {
  if (measure === 'min') return Math.min(...values)
  if (measure === 'max') return Math.max(...values)
  const sum = values.reduce((all, one) => all + one, 0)
  if (measure === 'sum' || values.length === 1) return sum
  // The average of averages, each as heavy as its rows.
  const counts = rows.map(({ count }) => Number(count))
  return values.reduce((all, one, at) => all + one * (counts[at] ?? 0), 0) / counts.reduce((all, one) => all + one, 0)
}
