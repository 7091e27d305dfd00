import { type Noun, Problem } from '@tildebase/nouns'
import { headerName } from '../csv-cell.ts'

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
