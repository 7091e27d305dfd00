import type { Field } from '@tildebase/nouns'
import { isShort, isWorth, rankOf } from '../../list/table/columns.ts'
import { isWritable, type Noun, titleField, titleRelations } from '../../values/noun.ts'

/** So many fields fit into a form. */
const FEW = 7

/** The fields that a form of a new entity shows at first. */
export function firstFields(noun: Noun): string[] {
  const title = titleField(noun)
  const fields = Object.values(noun.fields)
    .filter(isWritable)
    .filter((field) => !isCounted(noun, field))
  const needed = fields.filter((field) => field.required && !hasDefault(field)).map(({ name }) => name)
  const worth = fields
    .filter((field) => isShort(field) && isWorth(field))
    .sort((a, b) => rankOf(a) - rankOf(b))
    .map(({ name }) => name)
  const relations = titleRelations(noun)
  // A type of a few fields has no reason to hide some.
  if (fields.length <= FEW) return fields.map(({ name }) => name)
  return [...new Set([...(title === null ? [] : [title]), ...needed, ...relations, ...worth])].slice(
    0,
    Math.max(6, needed.length),
  )
}

/** Whether the service counts or notes a field: people do not begin with it. */
export function isCounted(noun: Noun, { name }: Field): boolean {
  return noun.stateField !== null && /^(run|success|failure)Count$|^last\w+At$/.test(name)
}

function hasDefault(field: Field): boolean {
  return field.kind !== 'forward' && field.kind !== 'back' && field.default !== undefined
}
