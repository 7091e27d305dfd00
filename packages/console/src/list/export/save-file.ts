/** Hands a file to the browser's downloads. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

/** Rows of cells as the text of a CSV file. Its mark tells spreadsheets that it is UTF-8. */
export function csvText(rows: readonly (readonly string[])[], separator = ','): string {
  return `\uFEFF${rows.map((cells) => cells.map((cell) => quoted(cell, separator)).join(separator)).join('\r\n')}\r\n`
}

function quoted(cell: string, separator: string): string {
  const isBare = !/["\r\n]/.test(cell) && !cell.includes(separator) && cell.trim() === cell
  return isBare ? cell : `"${cell.replaceAll('"', '""')}"`
}
