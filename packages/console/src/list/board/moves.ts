import type { Verb } from '@tildebase/nouns'
import type { Entity } from '../../values/entity.ts'
import { type Noun, ownVerbs, verbsFor, wordsOf } from '../../values/noun.ts'

/** A way to bring an entity to another value of a field. */
export interface Move {
  readonly verb: Verb
  /** Arguments that are known already; undefined lets people enter those that the verb takes. */
  readonly args: { readonly [name: string]: string } | undefined
}

/** The verb that takes an entity to a state, or null when none does from where it is. */
export function moveTo(noun: Noun, entity: Entity, field: string, target: string): Move | null {
  const verbs = verbsFor(noun, entity)
  const exact = verbs.find((verb) => verb.set?.[field] === target)
  if (exact) return { verb: exact, args: undefined }
  const words = wordsOf(noun.fields[field])
  const isBack = words.indexOf(target) < words.indexOf(String(entity[field]))
  const back = isBack && verbs.find((verb) => verb.set?.[field] === `$args.${field}`)
  if (back) return { verb: back, args: { [field]: target } }
  // A verb that steps through an order steps forward.
  const stepping = verbs.find((verb) => verb.set?.[field] === '$next' && stepsTo(noun, verb, entity, field, target) > 0)
  if (!stepping) return null
  if (stepping.args?.includes(field)) return { verb: stepping, args: { [field]: target } }
  return stepsTo(noun, stepping, entity, field, target) === 1 ? { verb: stepping, args: {} } : null
}

/** Whether any verb of the type moves this field. Without one, a move is an update of the field. */
export function hasMoves(noun: Noun, field: string): boolean {
  return ownVerbs(noun).some(({ set }) => set !== undefined && field in set)
}

/** The states that an entity can be moved to from where it is. */
export function reachable(noun: Noun, entity: Entity, field: string): string[] {
  return wordsOf(noun.fields[field]).filter(
    (word) => word !== entity[field] && (!hasMoves(noun, field) || moveTo(noun, entity, field, word) !== null),
  )
}

/** How many steps a state is ahead in the order of a verb; 0 when it is not in it. */
function stepsTo(noun: Noun, verb: Verb, entity: Entity, field: string, target: string): number {
  const order = orderOf(noun, verb, field)
  return order.includes(target) ? order.indexOf(target) - order.indexOf(String(entity[field])) : 0
}

function orderOf(noun: Noun, verb: Verb, field: string): readonly string[] {
  return verb.order ?? wordsOf(noun.fields[field])
}
