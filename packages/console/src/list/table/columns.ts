import type { Field } from '@tildebase/nouns'
import { labelOf } from '../../values/format.ts'
import { type Noun, titleField, titleRelations } from '../../values/noun.ts'

/** The column that shows what an entity is called, for types that have no field for it. */
export const TITLE = '$title'

const META = ['$createdAt', '$updatedAt', '$createdBy', '$version', '$id']

/** Words in the names of fields that people look for first, best first. */
const WORTH = [
  /^(value|amount|total|mrr|price)$/i,
  /^(organization|company)$/i,
  /^email$/i,
  /^priority$/i,
  /^(contact|customer|requester|recipient)$/i,
  /^(assignee|owner)$/i,
  /(due|expected|close|start|renew|periodEnd)/i,
  /^(type|plan|category|channel)$/i,
  /(score|quantity|count|rate)$/i,
  /^(phone|title|industry|city|source)$/i,
]

/** What a column is called. */
export function columnLabel(noun: Noun, name: string): string {
  return labelOf(name === TITLE ? noun.name : name)
}

/** Numbers are at the right. */
export function isRight(noun: Noun, name: string): boolean {
  return noun.fields[name]?.kind === 'number'
}

/** Every column that a list can show. */
export function allColumns(noun: Noun): string[] {
  const own = Object.values(noun.fields).filter(({ kind }) => kind !== 'back' && kind !== 'secret')
  const names = own.map(({ name }) => name)
  return [...(titleField(noun) === null ? [TITLE] : []), ...names, ...META]
}

/** The columns that a list shows until people choose others: what it is called, its state, and what is worth seeing. */
export function defaultColumns(noun: Noun): string[] {
  const title = titleField(noun) ?? TITLE
  const first = [title, ...(noun.stateField === null ? [] : [noun.stateField])]
  const hidden = new Set([...first, ...titleRelations(noun)])
  const others = Object.values(noun.fields)
    .filter((field) => !hidden.has(field.name) && isShort(field))
    .map((field) => ({ name: field.name, rank: rankOf(field) }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, 4)
  const names = [...first, ...others.map(({ name }) => name)]
  const due = Object.values(noun.fields).find(({ name }) => /^due(At|Date)$/.test(name))
  return [...names, due && !names.includes(due.name) ? due.name : '$updatedAt']
}

/** Whether a list can be sorted by a column. */
export function canSort(noun: Noun, name: string): boolean {
  return name !== TITLE && noun.fields[name]?.kind !== 'json'
}

/** The columns that a telephone has room for: what it is called, and its state. */
export function narrowColumns(noun: Noun, columns: readonly string[]): string[] {
  const title = columns.find((name) => name === TITLE || name === titleField(noun)) ?? columns[0]
  return columns.filter((name) => name === title || name === noun.stateField)
}

/** Whether a value of a field fits into a cell or a line. */
export function isShort(field: Field): boolean {
  return field.kind !== 'back' && field.kind !== 'json' && field.kind !== 'secret' && !field.list
}

/** How much people look for a field: the lower, the more. */
export function rankOf(field: Field): number {
  const at = WORTH.findIndex((pattern) => pattern.test(field.name))
  if (at >= 0) return at
  const byKind: { readonly [kind: string]: number } = { enum: 1, date: 2, forward: 3, datetime: 4, number: 5 }
  return WORTH.length + (byKind[field.kind] ?? 6)
}

/** Whether people look for a field first. */
export function isWorth(field: Field): boolean {
  return rankOf(field) < WORTH.length
}
