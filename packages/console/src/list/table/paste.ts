import type { Json } from '@tildebase/nouns'
import { CellReader } from '@tildebase/nouns/csv'
import { type ColumnPlan, cellValue } from '../../import/convert.ts'
import { guessDates } from '../../import/date-format.ts'
import { fieldOfMatch, type Matches } from '../../import/match.ts'
import { findMatches } from '../../import/relations.ts'
import { request } from '../../service/service.ts'
import { isConflict, newCorrelation, sayDone, write } from '../../service/write.ts'
import { t } from '../../texts/text.ts'
import { say, sayError } from '../../toast.ts'
import type { Entity } from '../../values/entity.ts'
import { numberText } from '../../values/format.ts'
import { mergeOf } from '../../values/merge.ts'
import { isEditable, type Noun } from '../../values/noun.ts'
import { guessNumbers } from '../../values/number-format.ts'

/** Writes cells of a spreadsheet into a table, from its first row and column on. All of it is undone as one. */
export async function pasteCells(
  noun: Noun,
  columns: readonly string[],
  rows: readonly Entity[],
  size: { readonly rows: number; readonly columns: number },
  text: string,
): Promise<void> {
  const grid = filled(gridOf(text), size)
  const changes = rows.slice(0, grid.length).map(() => ({}) as { [field: string]: Json })
  const faults: string[] = []
  let count = 0
  for (const [at, name] of columns.entries()) {
    const field = noun.fields[name]
    const cells = grid.map((cells) => cells[at]?.trim())
    if (cells.every((cell) => cell === undefined) || !isEditable(noun, field)) continue
    const given = cells.filter((cell): cell is string => cell !== undefined && cell !== '')
    const how: ColumnPlan = {
      field: name,
      numbers: guessNumbers(given),
      dates: guessDates(given),
      words: {},
      creates: false,
    }
    const matches: Matches =
      field.kind === 'forward' ? new Map([[fieldOfMatch(field), await findMatches(field, given)]]) : new Map()
    for (const [row, cell] of cells.entries()) {
      if (cell === undefined || changes[row] === undefined) continue
      const value = cell === '' ? { value: null } : cellValue(field, cell, how, matches)
      if ('reason' in value) faults.push(value.reason)
      else {
        changes[row][name] = value.value ?? null
        count++
      }
    }
  }
  await save(noun, rows, changes, count, faults)
}

async function save(
  noun: Noun,
  rows: readonly Entity[],
  changes: readonly { readonly [field: string]: Json }[],
  count: number,
  faults: readonly string[],
): Promise<void> {
  const correlation = newCorrelation()
  let isWritten = false
  try {
    for (const [at, body] of changes.entries()) {
      if (Object.keys(body).length === 0) continue
      await put(noun, rows[at]!, body, correlation)
      isWritten = true
    }
    if (isWritten) sayDone(t('{} {} pasted.', numberText(count), count === 1 ? t('cell') : t('cells')), correlation)
  } catch (reason) {
    sayError(reason)
    if (isWritten) sayDone(t('A part of the cells was pasted.'), correlation, 'bad')
  }
  if (faults.length > 0) say(t('{} cells stay as they are: {}.', numberText(faults.length), faults[0]), { tone: 'bad' })
}

/** Changes an entity. What others changed since it was read stays, unless it is the same field. */
async function put(
  noun: Noun,
  base: Entity,
  body: { readonly [field: string]: Json },
  correlation: string,
): Promise<void> {
  const path = `/${noun.name}/${base.$id}`
  const change = { method: 'PUT', path, body, type: noun.name } as const
  try {
    await write({ ...change, version: base.$version }, correlation)
  } catch (reason) {
    if (!isConflict(reason)) throw reason
    const theirs = await request<Entity>('GET', path)
    if (mergeOf(base, body, theirs).conflicts.length > 0) throw reason
    await write({ ...change, version: theirs.$version }, correlation)
  }
}

function gridOf(text: string): string[][] {
  const reader = new CellReader('\t')
  return [...reader.push(text), ...reader.end()].map(({ cells }) => [...cells])
}

/** One cell that is pasted into many fills them all. */
function filled(grid: string[][], size: { readonly rows: number; readonly columns: number }): string[][] {
  const isOne = grid.length === 1 && grid[0]!.length === 1
  if (!isOne) return grid
  return Array.from({ length: size.rows }, () => Array.from({ length: size.columns }, () => grid[0]![0]!))
}
