import type { Field, Json, JsonObject } from '@tildebase/nouns'
import type { Noun } from '../values/noun.ts'

export type FieldKind =
  | 'string'
  | 'number'
  | 'boolean'
  | 'date'
  | 'datetime'
  | 'enum'
  | 'json'
  | 'file'
  | 'forward'
  | 'computed'

/** A field of a type, as the editor shows it. */
export interface FieldRow {
  readonly name: string
  readonly kind: FieldKind
  readonly list: boolean
  readonly required: boolean
  readonly index: 'none' | 'indexed' | 'unique'
  /** The words of an enum, with commas. */
  readonly words: string
  readonly target: string
  /** The bounds of a number: `0..100`. */
  readonly range: string
  /** What a computed field is worked out from: `sum(items.amount)`. */
  readonly formula: string
  readonly fallback: string
}

/** A verb that moves the state, as the editor shows it. */
export interface VerbRow {
  readonly name: string
  /** The states it starts from, with commas; empty for any. */
  readonly from: string
  readonly to: string
}

/** A type, as the editor shows it. What the editor cannot show is kept as it was. */
export interface TypeDraft {
  readonly name: string
  readonly fields: readonly FieldRow[]
  readonly verbs: readonly VerbRow[]
  /** The field of states that a built-in type brings along; null where the fields above decide. */
  readonly state: string | null
  readonly rest: JsonObject
}

export const EMPTY_FIELD: FieldRow = {
  name: '',
  kind: 'string',
  list: false,
  required: false,
  index: 'none',
  words: '',
  target: '',
  range: '',
  formula: '',
  fallback: '',
}

/** What a name must have, to become one of the API. */
export const NAMED = '.*[A-Za-z].*'

/** The name of a type in the API: `service contract` is `ServiceContract`. */
export function typeName(text: string): string {
  return /^[A-Z][A-Za-z0-9]*$/.test(text) ? text : wordsOfName(text).map(capital).join('')
}

/** The name of a field or a verb in the API: `Due day` is `dueDay`. */
function fieldName(text: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(text)) return text
  const [first = '', ...rest] = wordsOfName(text)
  return first.charAt(0).toLowerCase() + first.slice(1) + rest.map(capital).join('')
}

function wordsOfName(text: string): string[] {
  const plain = text.replaceAll('ß', 'ss').normalize('NFKD').replace(/\p{M}/gu, '')
  const words = plain.split(/[^A-Za-z0-9]+/).filter(Boolean)
  return words.slice(words.findIndex((word) => /^[A-Za-z]/.test(word)))
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** The draft of a type that exists: all of it, or what the tenant has added to a built-in one. */
export function draftOf(noun: Noun, notation: JsonObject = noun.notation): TypeDraft {
  const fields: FieldRow[] = []
  const verbs: VerbRow[] = []
  const rest: { [name: string]: Json } = {}
  for (const [name, value] of Object.entries(notation)) {
    const field = noun.fields[name]
    const verb = noun.verbs[name]
    const row = field && typeof value === 'string' ? rowOf(field, value) : null
    const move = verb && noun.stateField !== null ? verb.set?.[noun.stateField] : undefined
    const isPlainMove =
      typeof move === 'string' &&
      !move.startsWith('$') &&
      Object.keys(verb!.set!).length === 1 &&
      !verb!.args &&
      !verb!.keeps &&
      !verb!.order
    if (row) fields.push(row)
    else if (verb && isPlainMove) verbs.push({ name, from: (verb.from ?? []).join(', '), to: move })
    else rest[name] = value
  }
  const brought = noun.stateField !== null && !(noun.stateField in notation)
  return { name: noun.name, fields, verbs, state: brought ? noun.stateField : null, rest }
}

/** The notation of a draft, as the service takes it. */
export function notationOf({ fields, verbs, rest, state: brought }: TypeDraft): JsonObject {
  const state = brought ?? stateField(fields)
  const moves = verbs
    .filter(({ name, to }) => name !== '' && to !== '')
    .map(({ name, from, to }) => {
      const starts = wordsIn(from)
      return [
        fieldName(name),
        { ...(starts.length > 0 && { from: starts }), set: { [state ?? 'status']: to } },
      ] as const
    })
  const rows = fields.filter(({ name }) => name !== '').map((row) => [fieldName(row.name), fieldNotation(row)] as const)
  return { ...rest, ...Object.fromEntries(rows), ...Object.fromEntries(moves) }
}

/** The field of states: the one that the service would take, too. */
export function stateField(fields: readonly FieldRow[]): string | null {
  const enums = fields.filter(({ kind, list }) => kind === 'enum' && !list).map(({ name }) => name)
  return enums.find((name) => name === 'status') ?? enums.find((name) => name === 'stage') ?? enums[0] ?? null
}

export function wordsIn(text: string): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
}

function fieldNotation(row: FieldRow): string {
  if (row.kind === 'computed') return `= ${row.formula.trim()}${row.index === 'none' ? '' : ' #'}`
  const range = row.kind === 'number' && row.range.trim() !== '' ? ` ${row.range.trim()}` : ''
  const base =
    row.kind === 'enum' ? wordsIn(row.words).join(' | ') : row.kind === 'forward' ? `-> ${row.target}` : row.kind
  const mark = `${row.list ? '[]' : ''}${row.required ? '!' : ''}`
  const index = row.kind === 'forward' || row.index === 'none' ? '' : row.index === 'unique' ? '##' : '#'
  const fallback = row.fallback !== '' && row.kind !== 'forward' ? ` = ${row.fallback}` : ''
  return `${base}${range}${mark}${index}${fallback}`
}

function rowOf(field: Field, notation: string): FieldRow | null {
  if (field.kind === 'back' || field.kind === 'secret') return null
  if (field.kind === 'forward') {
    if (field.inverse) return null
    return {
      ...EMPTY_FIELD,
      name: field.name,
      kind: 'forward',
      list: field.list,
      required: field.required,
      target: field.target,
    }
  }
  if (field.computed) {
    const formula = notation.replace(/^\s*=\s*/, '').replace(/\s*#\s*$/, '')
    return { ...EMPTY_FIELD, name: field.name, kind: 'computed', index: field.index, formula }
  }
  if (field.service) return null
  const { min, max } = field
  return {
    ...EMPTY_FIELD,
    name: field.name,
    kind: field.kind,
    range: min === undefined && max === undefined ? '' : `${min ?? ''}..${max ?? ''}`,
    list: field.list,
    required: field.required,
    index: field.index,
    words: (field.values ?? []).join(', '),
    fallback: field.default === undefined ? '' : String(field.default),
  }
}
