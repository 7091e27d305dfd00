import { csvText } from '../list/export/save-file.ts'
import { t } from '../texts/text.ts'
import type { Outcome } from './job.ts'

/** The rejected rows as a file that people correct and import again: their cells, and the reason at the end. */
export function rejectedFile({ file, details, table }: Outcome): [content: Blob, name: string] {
  const name = file.replace(/(\.\w+)?(\.gz)?$/, '')
  if (table === null) {
    const rows = details.map(({ row, line, error }) => ({ row: row + 1, line, error }))
    return [new Blob([JSON.stringify(rows, null, 2)], { type: 'application/json' }), `${name}.rejected.json`]
  }
  const { columns, rows, separator } = table
  const lines = [
    [...columns, t('Reason')],
    ...details.map(({ row, error }) => [...columns.map((column) => rows[row]?.cells[column] ?? ''), error]),
  ]
  return [new Blob([csvText(lines, separator)], { type: 'text/csv' }), `${name}.rejected.csv`]
}
