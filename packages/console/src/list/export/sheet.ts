import type { Json } from '@tildebase/nouns'
import { pagesOf } from '../../service/pages.ts'
import { nouns, titleOf } from '../../service/schema.ts'
import { actorName } from '../../values/actors.ts'
import { type Entity, isEntity } from '../../values/entity.ts'
import type { Noun } from '../../values/noun.ts'
import { includesOf } from '../look.ts'
import { columnLabel, TITLE } from '../table/columns.ts'
import type { Shown } from './export-jobs.ts'
import { csvText } from './save-file.ts'

/** A table for a spreadsheet: the columns on the screen by their labels, and names in the place of ids. */
export async function readSheet(
  noun: Noun,
  parts: readonly object[],
  { columns, sort }: Shown,
  time: string | null,
  signal: AbortSignal,
  onRows: (done: number) => void,
): Promise<Blob> {
  const rows = [columns.map((name) => columnLabel(noun, name))]
  const include = includesOf(noun, columns).join() || undefined
  for (const part of parts) {
    const filter = Object.keys(part).length === 0 ? undefined : part
    const query = { filter, sort: sort ?? undefined, include, asOf: time ?? undefined }
    for await (const entities of pagesOf(noun.name, query, signal)) {
      rows.push(...entities.map((entity) => columns.map((name) => cellOf(noun, entity, name))))
      onRows(rows.length - 1)
    }
  }
  return new Blob([csvText(rows)], { type: 'text/csv' })
}

function cellOf(noun: Noun, entity: Entity, name: string): string {
  if (name === TITLE) return plain(titleOf(entity, noun))
  return plain(name === '$createdBy' ? actorName(String(entity[name])) : textOf(entity[name]))
}

function textOf(value: Json | undefined): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  if (typeof value !== 'object') return String(value)
  if (isEntity(value)) return titleOf(value, nouns.value.get(value.$type))
  const { hash, name } = value as { readonly hash?: Json; readonly name?: Json }
  // A file is called by its name.
  return typeof hash === 'string' && typeof name === 'string' ? name : JSON.stringify(value)
}

/** A text that no spreadsheet takes for a formula. Numbers and telephone numbers may begin with a sign. */
function plain(text: string): string {
  return /^[=@\t\r]|^[+-](?![\d\s().,/-]*$)/.test(text) ? `'${text}` : text
}
