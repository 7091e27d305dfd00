/** How a column writes numbers: `1,234.50` with a point, `1.234,50` with a comma. */
export type NumberFormat = 'point' | 'comma'

/** A format that was found in the cells of a column. It is not sure where the cells could mean two things. */
export interface Guess<F> {
  readonly format: F
  readonly isSure: boolean
}

/** The format of numbers that all cells of a column show together. `locale` decides what no cell does. */
export function guessNumbers(cells: readonly string[], locale?: string): Guess<NumberFormat> {
  const only = (format: NumberFormat, other: NumberFormat) =>
    cells.filter((cell) => readNumber(cell, format) !== null && readNumber(cell, other) === null).length
  const points = only('point', 'comma')
  const commas = only('comma', 'point')
  if (points !== commas) return { format: points > commas ? 'point' : 'comma', isSure: true }
  const differ = cells.some((cell) => readNumber(cell, 'point') !== readNumber(cell, 'comma'))
  const isComma = new Intl.NumberFormat(locale).format(1.5).includes(',')
  return { format: isComma ? 'comma' : 'point', isSure: !differ }
}

/** The number that a cell means in a format; null when it is none. Currencies, spaces and percent signs are left out. */
export function readNumber(cell: string, format: NumberFormat): number | null {
  const bare = cell
    .trim()
    .replace(/^\((.*)\)$/, '-$1')
    .replace(/^(-?)\s*(?:\p{Sc}|[A-Z]{3})\s*/u, '$1')
    .replace(/\s*(?:\p{Sc}|[A-Z]{3}|%)$/u, '')
    .replace(/(?<=\d)[\s'’](?=\d{3})/g, '')
    .replace('−', '-')
  if (/^-?\d+(?:\.\d+)?e[+-]?\d+$/i.test(bare)) return Number(bare)
  const pattern =
    format === 'point' ? /^[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?$/ : /^[-+]?(?:\d{1,3}(?:\.\d{3})+|\d+)?(?:,\d+)?$/
  if (!pattern.test(bare) || !/\d/.test(bare)) return null
  return Number(format === 'point' ? bare.replaceAll(',', '') : bare.replaceAll('.', '').replace(',', '.'))
}
