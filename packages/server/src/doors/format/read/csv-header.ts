import { type Noun, Problem } from '@tildebase/nouns'
import { headerName } from '../csv-cell.ts'

/** The names of the columns. */
export function columnsOf(cells: readonly string[], error: string | null): readonly string[] {
  const names = cells.map(headerName)
  const twice = twiceIn(names)
  if (error !== null) throw new Problem('invalid_body', `The header ${error}.`)
  if (twice !== undefined) {
    throw new Problem('invalid_body', `The header names ${JSON.stringify(twice)} twice. Name every column once.`, {
      field: twice,
    })
  }
  return names
}

/** The first name that was there before, if any. */
function twiceIn(names: readonly string[]): string | undefined {
  const seen = new Set<string>()
  return names.find((name) => seen.has(name) || !seen.add(name))
}

/**
 * The declared fields that columns mean which are written otherwise: `E-Mail` for `email`, `Lead Score` for `leadScore`.
 * A column that could mean two fields, or a field that two columns could mean, is left as it is.
 */
export function fieldsOf(names: readonly string[], noun: Noun): ReadonlyMap<string, string> {
  const there = new Set(names)
  const free = Object.values(noun.fields).filter(
    ({ name, kind }) => kind !== 'back' && kind !== 'secret' && !there.has(name),
  )
  const others = names.filter((name) => !name.startsWith('$') && !Object.hasOwn(noun.fields, name))
  const fields = Map.groupBy(free, ({ name }) => plain(name))
  const found = new Map<string, string>()
  for (const [spelling, [column, ...more]] of Map.groupBy(others, plain)) {
    const [field, ...rivals] = fields.get(spelling) ?? []
    if (field !== undefined && rivals.length + more.length === 0) found.set(column!, field.name)
  }
  return found
}

/** A name without case and without what only separates its words. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_.-]+/g, '')
}
