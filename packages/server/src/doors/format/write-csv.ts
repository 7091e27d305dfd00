import type { JsonObject } from '@tildebase/nouns'
import type { Stored } from '@tildebase/tenant'
import { isMeta, META_COLUMNS, metaValue, otherNames, secretNames, shownFields } from './columns.ts'
import { cellText, guarded, headerText, quotedCell, quotedHeader } from './csv-cell.ts'
import type { Pieces, Writing } from './write.ts'

const LINE_END = '\r\n'

/** CSV as RFC 4180 has it: meta-fields, declared fields, then the others that occur. */
export function* writeCsv(writing: Writing): Pieces {
  const columns = yield* columnsOf(writing)
  const head = writing.safe ? (name: string) => guarded(headerText(name)) : headerText
  yield columns.map((name) => quotedHeader(head(name))).join(',') + LINE_END
  const cells = columns.map((name) => cellOf(name, writing.safe))
  for (const page of writing.pages()) yield page.map((entity) => lineOf(entity, cells)).join('')
}

function* columnsOf({ noun, pages, fields }: Writing): Generator<null, readonly string[], undefined> {
  const secrets = secretNames(noun)
  if (fields !== null) return [...new Set(['$id', '$type', ...fields])].filter((name) => !secrets.has(name))
  const others = noun.strict ? [] : yield* otherNames(noun, pages())
  return [...META_COLUMNS, ...shownFields(noun).map(({ name }) => name), ...others]
}

/** Writes the cell of one column. */
type Cell = (entity: Stored, data: JsonObject) => string

function cellOf(name: string, safe: boolean): Cell {
  // Meta-fields are written as they are: a type may be called null.
  if (isMeta(name)) return (entity) => quotedCell(String(metaValue(entity, name)))
  return (_, data) => (Object.hasOwn(data, name) ? quotedCell(cellText(data[name]!, safe)) : '')
}

function lineOf(entity: Stored, cells: readonly Cell[]): string {
  const data = JSON.parse(entity.data) as JsonObject
  let line = cells[0]!(entity, data)
  for (let i = 1; i < cells.length; i++) line += `,${cells[i]!(entity, data)}`
  return line + LINE_END
}
