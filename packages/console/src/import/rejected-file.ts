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
    [...columns, 'Reason'],
    ...details.map(({ row, error }) => [...columns.map((column) => rows[row]?.cells[column] ?? ''), error]),
  ]
  // The mark tells spreadsheets that the file is UTF-8.
  const text = `\uFEFF${lines.map((cells) => cells.map((cell) => quoted(cell, separator)).join(separator)).join('\r\n')}\r\n`
  return [new Blob([text], { type: 'text/csv' }), `${name}.rejected.csv`]
}

function quoted(cell: string, separator: string): string {
  const isBare = !/["\r\n]/.test(cell) && !cell.includes(separator) && cell.trim() === cell
  return isBare ? cell : `"${cell.replaceAll('"', '""')}"`
}
