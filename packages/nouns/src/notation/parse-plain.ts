import { allOf, type Filter, type Leaf, type Path } from '../filter/filter.ts'
import { operand } from '../filter/operand.ts'
import { acrossTypes, fault, MOST_NODES } from '../filter/parse-filter.ts'
import { declaredField, type NounLookup, quoted, resolvePaths } from '../filter/path.ts'
import type { Field, Json, Noun } from '../noun.ts'

/** Parses plain query parameters, `stage=Lead`, as equalities, each read by the declared type of its field. */
export function parsePlain(
  params: readonly (readonly [string, string])[],
  noun: Noun,
  nouns: NounLookup,
  now: number,
): Filter {
  if (params.length > MOST_NODES)
    throw fault(`A query may ask for at most ${MOST_NODES} values.`, 'filter', [], MOST_NODES)
  return allOf(params.map(([name, text]) => parseParam(name, text, noun, nouns, now)))
}

function parseParam(name: string, text: string, noun: Noun, nouns: NounLookup, now: number): Filter {
  const paths = resolvePaths(name, noun, nouns)
  if ('fault' in paths) throw fault(paths.fault, name, [])
  return acrossTypes(paths.map((path) => parseValue(path, name, text, noun, nouns, now)))
}

function parseValue(path: Path, name: string, text: string, noun: Noun, nouns: NounLookup, now: number): Leaf {
  const field = declaredField(path, noun, nouns)
  const value = meantBy(text, path, field)
  if (Array.isArray(value)) return { op: 'in', path, value }
  const read = operand('$eq', value, undefined, { path, field, now, regex: () => null })
  if ('fault' in read) throw fault(read.fault, name, [])
  return { op: 'eq', path, ...read }
}

/** The value of a string, in the declared type; a list of two candidates for an undeclared field. */
function meantBy(text: string, path: Path, field: Field | undefined): Json {
  if (path.field === '$version' || field?.kind === 'number') return numberOf(text) ?? refuse(path, 'a number')
  if (field?.kind === 'boolean') return booleanOf(text) ?? refuse(path, 'true or false')
  if ((field && field.kind !== 'json') || path.field.startsWith('$')) return text
  const other = numberOf(text) ?? booleanOf(text)
  return other === undefined ? text : [text, other]
}

function numberOf(text: string): number | undefined {
  return /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) && Number.isFinite(Number(text)) ? Number(text) : undefined
}

function booleanOf(text: string): boolean | undefined {
  return text === 'true' ? true : text === 'false' ? false : undefined
}

function refuse(path: Path, wanted: string): never {
  throw fault(`${quoted(path.text)} must be ${wanted}.`, path.text, [])
}
