import { type Noun, Problem } from '@tildebase/nouns'
import { headerName } from '../csv-cell.ts'

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

/** The names of the columns. */
export function columnsOf(cells: readonly string[], error: string | null): readonly string[] {
  const names = cells.map(headerName)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (error !== null) throw new Problem('invalid_body', `The header ${error}.`)
  if (twice !== undefined) {
    throw new Problem('invalid_body', `The header names ${JSON.stringify(twice)} twice. Name every column once.`, {
      field: twice,
    })
  }
  return names
}

/**
 * The declared fields that columns mean which are written otherwise: `E-Mail` for `email`, `Lead Score` for `leadScore`.
 * A column that could mean two fields, or a field that two columns could mean, is left as it is.
 */
export function fieldsOf(names: readonly string[], noun: Noun): ReadonlyMap<string, string> {
  const declared = Object.values(noun.fields).filter(({ kind }) => kind !== 'back' && kind !== 'secret')
  const others = names.filter((name) => !name.startsWith('$') && !Object.hasOwn(noun.fields, name))
  const found = new Map<string, string>()
  for (const name of others) {
    const same = declared.filter((field) => !names.includes(field.name) && plain(field.name) === plain(name))
    const isOnly = others.filter((other) => plain(other) === plain(name)).length === 1
    if (same.length === 1 && isOnly) found.set(name, same[0]!.name)
  }
  return found
}

/** A name without case and without what only separates its words. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_.-]+/g, '')
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
