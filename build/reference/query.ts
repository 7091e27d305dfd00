import { META_FIELDS, OPERATORS } from '@tildebase/nouns'
import { code, codes, table } from './markdown.ts'

const MEANING: { readonly [operator: string]: readonly [example: string, meaning: string] } = {
  $eq: ['{"stage": {"$eq": "Lead"}}', 'Equal. `{"stage": "Lead"}` is the short form.'],
  $ne: ['{"stage": {"$ne": "Lead"}}', 'Not equal. Matches entities without the field.'],
  $gt: ['{"value": {"$gt": 100}}', 'Greater. Numbers with numbers, text with text by code point, times with times.'],
  $gte: ['{"value": {"$gte": 100}}', 'Greater or equal.'],
  $lt: ['{"createdAt": {"$lt": "7d ago"}}', 'Less.'],
  $lte: ['{"value": {"$lte": 100}}', 'Less or equal.'],
  $in: [
    '{"stage": {"$in": ["Lead", "Qualified"]}}',
    'Equal to one of the list. `null` in the list matches missing fields.',
  ],
  $nin: ['{"stage": {"$nin": ["Churned"]}}', 'Equal to none of the list. Matches entities without the field.'],
  $exists: [
    '{"email": {"$exists": true}}',
    '`true`: the field is present and not null. `false`: it is missing or null.',
  ],
  $regex: [
    '{"name": {"$regex": "^ada", "$options": "i"}}',
    'Matches an RE2 pattern of at most 256 characters. `$options`: `i` ignores case, `m` makes ^ and $ match at lines, `s` lets . match a line break. All patterns of a filter have at most 2,000 characters with their repetitions written out: `a{10}` has ten.',
  ],
  $not: ['{"value": {"$not": {"$gt": 100}}}', 'Negates an operator expression. Matches entities without the field.'],
}

const LOGICAL: { readonly [operator: string]: readonly [example: string, meaning: string] } = {
  $and: ['{"$and": [{"stage": "Lead"}, {"value": {"$gt": 1}}]}', 'All filters of a list with at least one.'],
  $or: ['{"$or": [{"stage": "Lead"}, {"email": null}]}', 'At least one filter of the list.'],
  $text: [
    '{"$text": "ada love"}',
    'Full-text search: every word is the beginning of a word in a text field, in any case. At the top level or in `$and` only. `{"$search": "…"}` is accepted too.',
  ],
}

/** The operators on a field. */
export function operatorTable(): string {
  return table(
    ['Operator', 'Example', 'Meaning'],
    Object.keys(OPERATORS).map((name) => row(name, MEANING)),
  )
}

/** The operators that combine or search. */
export function logicalTable(): string {
  return table(
    ['Operator', 'Example', 'Meaning'],
    Object.keys(LOGICAL).map((name) => row(name, LOGICAL)),
  )
}

/** The meta-fields that can be filtered and sorted by. */
export function metaFields(): string {
  return codes(Object.keys(META_FIELDS))
}

function row(name: string, meanings: typeof MEANING): string[] {
  const known = meanings[name]
  if (known === undefined) throw new Error(`build/reference/query.ts does not describe ${name}.`)
  return [code(name), code(known[0]), known[1]]
}
