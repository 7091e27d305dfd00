import type { SentRow } from '@tildebase/client'
import type { ForwardField } from '@tildebase/nouns'
import { nouns } from '../service/schema.ts'
import { type Noun, titleField } from '../values/noun.ts'
import { type Converted, cellsOf, convertRow, type Plan } from './convert.ts'
import { type Prepared, type Rejected, send } from './job.ts'
import { fieldOfMatch, type Match, type Matches } from './match.ts'
import type { Table } from './read.ts'
import { creatable, findMatches } from './relations.ts'

/** What to do with a row that has a cell which cannot be read. */
export type BadCells = 'reject' | 'leave out'

/** The rows that can be sent, and those that cannot. */
export function rowsOf(converted: readonly Converted[], table: Table, badCells: BadCells): Omit<Prepared, 'created'> {
  const rows: SentRow[] = []
  const refused: Rejected[] = []
  for (const [row, { draft, bad }] of converted.entries()) {
    const { line } = table.rows[row]!
    if (bad.length > 0 && badCells === 'reject') {
      refused.push({ row, line, error: bad.map(({ column, reason }) => `${column}: ${reason}`).join('; ') })
    } else rows.push({ row, line, text: `${JSON.stringify(draft)}\n` })
  }
  return { rows, refused }
}

/** The columns that fill relations, each with its field. */
export function relationColumns(noun: Noun, plan: Plan): [column: string, field: ForwardField][] {
  return Object.entries(plan).flatMap(([column, { field }]) => {
    const found = field === null ? undefined : noun.fields[field]
    return found?.kind === 'forward' ? [[column, found] as [string, ForwardField]] : []
  })
}

/** What the cells of all relations name. */
export async function matchesOf(noun: Noun, plan: Plan, table: Table): Promise<Matches> {
  const matches = new Map<string, ReadonlyMap<string, Match>>()
  for (const [column, field] of relationColumns(noun, plan)) {
    const key = fieldOfMatch(field)
    const cells = cellsOf(table.rows, column).flatMap((cell) =>
      field.list ? cell.split(/[;,]/).map((one) => one.trim()) : [cell],
    )
    matches.set(key, new Map([...(matches.get(key) ?? []), ...(await findMatches(field, cells))]))
  }
  return matches
}

/** The names that would be created for a column. */
export function missingNames(field: ForwardField, matches: Matches): string[] {
  const found = [...(matches.get(fieldOfMatch(field)) ?? [])]
  const missing = found.filter(([, { ids }]) => ids.length === 0).map(([cell]) => cell)
  return [...new Map(missing.map((cell) => [cell.toLowerCase(), cell])).values()]
}

/** Creates what the rows name and is not there yet, under the correlation of the import. Returns the rows that refer to it. */
export async function createMissing(
  noun: Noun,
  plan: Plan,
  table: Table,
  matches: Matches,
  badCells: BadCells,
  correlation: string,
): Promise<Prepared> {
  let created = 0
  const done = new Set<string>()
  for (const [column, field] of relationColumns(noun, plan)) {
    const target = plan[column]!.creates ? creatable(field) : null
    if (target === null || done.has(fieldOfMatch(field))) continue
    done.add(fieldOfMatch(field))
    const title = titleField(nouns.value.get(target.name))!
    const rows = missingNames(field, matches).map((name, row) => ({
      row,
      text: `${JSON.stringify({ [title]: name })}\n`,
    }))
    if (rows.length > 0) created += (await send(rows, { type: target.name, upsert: null }, correlation)).imported
  }
  const known = created === 0 ? matches : await matchesOf(noun, plan, table)
  const converted = table.rows.map((row) => convertRow(noun, plan, row, known))
  return { ...rowsOf(converted, table, badCells), created }
}
