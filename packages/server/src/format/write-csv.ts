import type { Json, JsonObject } from '@tildebase/nouns'
import type { Stored } from '@tildebase/tenant'
import { isMeta, META_COLUMNS, metaValue, otherNames, secretNames, shownFields } from './columns.ts'
import { cellText, guarded, headerText, quotedCell } from './csv-cell.ts'
import type { Pieces, Writing } from './write.ts'

const LINE_END = '\r\n'

/** CSV as RFC 4180 has it: meta-fields, declared fields, then the others that occur. */
export function* writeCsv(writing: Writing): Pieces {
  const columns = yield* columnsOf(writing)
  const head = writing.safe ? (name: string) => guarded(headerText(name)) : headerText
  yield columns.map((name) => quotedCell(head(name))).join(',') + LINE_END
  const line = (entity: Stored) => lineOf(entity, columns, writing.safe)
  for (const page of writing.pages()) yield page.map(line).join('')
}

function* columnsOf({ noun, pages, fields }: Writing): Generator<null, readonly string[], undefined> {
  const secrets = secretNames(noun)
  if (fields !== null) return [...new Set(['$id', '$type', ...fields])].filter((name) => !secrets.has(name))
  const others = noun.strict ? [] : yield* otherNames(noun, pages())
  return [...META_COLUMNS, ...shownFields(noun).map(({ name }) => name), ...others]
}

function lineOf(entity: Stored, columns: readonly string[], safe: boolean): string {
  const data = JSON.parse(entity.data) as JsonObject
  let line = ''
  for (let i = 0; i < columns.length; i++) {
    const name = columns[i]!
    const value: Json | undefined = isMeta(name)
      ? metaValue(entity, name)
      : Object.hasOwn(data, name)
        ? data[name]
        : undefined
    if (i > 0) line += ','
    // Meta-fields stand as they are: a type may be called null.
    line += quotedCell(isMeta(name) ? String(value) : cellText(value, safe))
  }
  return line + LINE_END
}
