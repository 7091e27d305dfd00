import type { JsonObject } from '@tildebase/nouns'
import type { Stored } from '@tildebase/tenant'
import { isMeta, META_COLUMNS, metaValue, otherNames, secretNames, shownFields } from './columns.ts'
import { cellText, guarded, headerText, quotedCell, quotedHeader } from './csv-cell.ts'
import type { Pieces, Writing } from './write.ts'

const LINE_END = '\r\n'
const PIECE = 65_536

/** CSV as RFC 4180 has it: meta-fields, declared fields, then the others that occur. */
export function* writeCsv(writing: Writing): Pieces {
  const columns = yield* columnsOf(writing)
  const head = writing.safe ? (name: string) => guarded(headerText(name)) : headerText
  yield columns.map((name) => quotedHeader(head(name))).join(',') + LINE_END
  const line = lineWriter(columns, writing.safe)
  for (const page of writing.pages()) {
    let text = ''
    for (const entity of page) {
      text += line(entity)
      // A line may be long because of the many columns that others have.
      if (text.length < PIECE) continue
      yield text
      text = ''
    }
    yield text
  }
}

function* columnsOf({ noun, pages, fields }: Writing): Generator<null, readonly string[], undefined> {
  const secrets = secretNames(noun)
  if (fields !== null) return [...new Set(['$id', '$type', ...fields])].filter((name) => !secrets.has(name))
  const others = noun.strict ? [] : yield* otherNames(noun, pages())
  return [...META_COLUMNS, ...shownFields(noun).map(({ name }) => name), ...others]
}

/** Writes the lines of entities, each of which may have few of many columns. */
function lineWriter(columns: readonly string[], safe: boolean): (entity: Stored) => string {
  // Meta-fields are written as they are: a type may be called null.
  const metas = columns.flatMap((name, place) => (isMeta(name) ? [{ name, place }] : []))
  const places = new Map(columns.map((name, place) => [name, place]))
  return (entity) => {
    const cells: string[] = new Array(columns.length).fill('')
    for (const [name, value] of Object.entries(JSON.parse(entity.data) as JsonObject)) {
      const place = places.get(name)
      if (place !== undefined) cells[place] = quotedCell(cellText(value, safe))
    }
    for (const { name, place } of metas) cells[place] = quotedCell(String(metaValue(entity, name)))
    return cells.join(',') + LINE_END
  }
}
