import '../../style/pages/records.css'
import type { ComponentChildren } from 'preact'
import type { Data } from '../service/cache.ts'
import { t } from '../texts/text.ts'
import { useTurns } from '../turns.ts'
import { Empty, Scroll } from './basics.tsx'
import { Failure, Skeleton } from './states.tsx'

/** A column of a table: its head, and what it shows of a row. */
export interface Column<T> {
  readonly label: string
  readonly cell: (row: T) => ComponentChildren
  readonly isNumber?: boolean
}

/** So many rows are drawn at once. */
const AT_ONCE = 50

/** A table of what was asked for: its shape while it loads, what went wrong, or what to do when there is nothing. */
export function DataTable<T>(props: {
  label: string
  data: Pick<Data<unknown>, 'value' | 'error' | 'reload'>
  rows: readonly T[]
  keyOf: (row: T) => string
  columns: readonly Column<T>[]
  /** The buttons at the end of a row. */
  actions?: (row: T) => ComponentChildren
  /** Shown in place of a table without rows. */
  empty: ComponentChildren
  /** The row that the keyboard is at, or that is open below. */
  active?: number
}) {
  const { data, rows, columns, actions } = props
  const drawn = useTurns(rows.length, AT_ONCE, AT_ONCE)
  return (
    <>
      <Failure error={data.error} onRetry={data.reload} />
      {!data.value && !data.error && <Skeleton rows={4} />}
      {data.value && rows.length === 0 && props.empty}
      {rows.length > 0 && (
        <Scroll label={props.label}>
          <table class="grid records">
            <thead>
              <tr>
                {columns.map(({ label, isNumber }) => (
                  <th key={label} scope="col" class={isNumber ? 'right' : ''}>
                    {label}
                  </th>
                ))}
                {actions && (
                  <th scope="col">
                    <span class="unseen">{t('Actions')}</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, drawn).map((row, at) => (
                <tr key={props.keyOf(row)} class={at === props.active ? 'active' : ''}>
                  {columns.map(({ label, cell, isNumber }) => (
                    <td key={label} class={isNumber ? 'right number' : ''} data-label={label}>
                      {orEmpty(cell(row))}
                    </td>
                  ))}
                  {actions && <td class="row-actions">{actions(row)}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </>
  )
}

/** A cell is never without content: on a telephone it is a line with a label. */
function orEmpty(content: ComponentChildren): ComponentChildren {
  return content === null || content === undefined || content === '' || content === '—' ? <Empty /> : content
}
