import { cell } from './cell.ts'

/** An item with fields to show. */
export type Shown = { readonly [field: string]: unknown }

const GAP = '  '
const NARROWEST = 6
const WIDEST = 40

/** A table that fits the terminal: it omits empty columns, truncates long values and drops columns without room. */
export function tableText(
  things: readonly Shown[],
  columns: readonly string[],
  width: number,
  bold: (text: string) => string,
): string[] {
  if (things.length === 0) return ['Nothing found.']
  const rows = things.map((thing) => columns.map((name) => cell(thing[name])))
  const filled = columns.map((_, at) => at).filter((at) => rows.some((row) => row[at] !== ''))
  const widths = new Map<number, number>()
  let left = width
  for (const at of filled) {
    const wanted = Math.max(columns[at]!.length, ...rows.map((row) => lengthOf(row[at]!)))
    // An id must be complete to be useful; the last column uses the remaining width.
    const whole = columns[at] === '$id' || at === filled.at(-1)
    const room = Math.min(wanted, whole ? wanted : WIDEST, left)
    if (room < Math.min(wanted, NARROWEST)) break
    widths.set(at, room)
    left -= room + GAP.length
  }
  const line = (cells: readonly string[]) =>
    [...widths]
      .map(([at, room]) => fit(cells[at]!, room))
      .join(GAP)
      .trimEnd()
  return [bold(line(columns)), ...rows.map(line)]
}

function fit(text: string, room: number): string {
  const letters = [...text]
  return letters.length > room ? `${letters.slice(0, room - 1).join('')}…` : text + ' '.repeat(room - letters.length)
}

function lengthOf(text: string): number {
  return [...text].length
}
