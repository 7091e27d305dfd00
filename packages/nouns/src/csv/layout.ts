/** How the cells of a file are separated, and what is before its header. */
export interface Layout {
  readonly separator: string
  readonly skipped: string
}

const SEPARATORS = [',', ';', '\t', '|']

/** The layout that the header of a file shows, or null while the header is not there as a whole. */
export function layoutOf(text: string, isAll: boolean): Layout | null {
  // Spreadsheets write such a line for each other.
  const named = /^\ufeff?sep=(.)(?:\r\n|\n|\r(?!$))/i.exec(text)
  if (named) return { separator: named[1]!, skipped: named[0] }
  const header = headerOf(text)
  if (header === null && !isAll) return null
  const counts = SEPARATORS.map((separator) => countOf(header ?? text, separator))
  const most = Math.max(...counts)
  return { separator: most === 0 ? ',' : SEPARATORS[counts.indexOf(most)]!, skipped: '' }
}

/** The first line that is not empty, quoted cells as a whole; null while its end is not there. */
function headerOf(text: string): string | null {
  let isQuoted = false
  let start = 0
  for (let i = 0; i < text.length; i++) {
    const letter = text[i]
    if (letter === '"') isQuoted = !isQuoted
    if (isQuoted || (letter !== '\n' && letter !== '\r')) continue
    if (i > start) return text.slice(start, i)
    start = i + 1
  }
  return null
}

function countOf(header: string, separator: string): number {
  return header.replace(/"[^"]*"/g, '').split(separator).length - 1
}
