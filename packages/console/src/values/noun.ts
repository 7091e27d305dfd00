import type { Field, JsonObject, Verb, Noun as WholeNoun } from '@tildebase/nouns'
import { hasSmallNouns } from '../texts/text.ts'
import type { Entity } from './entity.ts'
import { labelOf } from './format.ts'

/** A type, as the service describes it. */
export type Noun = Omit<WholeNoun, 'prefix'>

/** The singular of a type for people: `feature flag`. */
export function singular(noun: Noun): string {
  return lowered(labelOf(noun.name))
}

/** The plural of a type for people: `feature flags`. */
export function plural(noun: Noun): string {
  return lowered(labelOf(noun.path))
}

function lowered(text: string): string {
  return !hasSmallNouns || /^[A-Z]{2}/.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1)
}

export const TITLES = ['name', 'title', 'subject', 'number', 'key', 'email', 'url', 'domain', 'body']

/** The field that an entity is called by; null where its relations have to do. */
export function titleField(noun: Noun | undefined): string | null {
  return TITLES.find((name) => noun?.fields[name]?.kind === 'string') ?? null
}

/** The relations that name an entity without its own title. */
export function titleRelations(noun: Noun): string[] {
  if (titleField(noun) !== null) return []
  const forward = Object.values(noun.fields).filter(({ kind, list }) => kind === 'forward' && !list)
  return forward.slice(0, 4).map(({ name }) => name)
}

/** The filter that finds names with these words, where there is no index of words; null for a type without names. */
export function namedLike(noun: Noun, words: string): { readonly [field: string]: JsonObject } | null {
  const title = titleField(noun)
  const parts = words.split(/[^\p{L}\p{N}]+/u).filter(Boolean)
  return title === null || parts.length === 0 ? null : { [title]: { $regex: parts.join('.*'), $options: 'i' } }
}

const BUILT_IN = new Set(['create', 'update', 'delete', 'rollback', 'restore'])
/** Verbs that make an entity: one that is there already has no use for them. */
const MAKING = new Set(['capture'])

/** The verbs of its own that an entity may run from the state it is in. */
export function verbsFor(noun: Noun, entity: Entity): Verb[] {
  const state = noun.stateField === null ? null : entity[noun.stateField]
  return ownVerbs(noun).filter(
    ({ name, from }) => !MAKING.has(name) && (from === undefined || from.includes(String(state))),
  )
}

/** The verbs that a type has next to the built-in ones. */
export function ownVerbs(noun: Noun): Verb[] {
  return Object.values(noun.verbs).filter(({ name }) => !BUILT_IN.has(name))
}

/** Whether people may write a field. */
export function isWritable(field: Field | undefined): field is Exclude<Field, { kind: 'back' }> {
  if (field === undefined || field.kind === 'back' || field.kind === 'secret') return false
  return field.kind === 'forward' || !field.service
}

/** Whether people may change a field of an entity. Verbs alone change a guarded state. */
export function isEditable(noun: Noun, field: Field | undefined): field is Exclude<Field, { kind: 'back' }> {
  return isWritable(field) && !(noun.guarded && field.name === noun.stateField)
}

/** A field as a new entity takes it: a guarded state begins as its default or as one of the declared states. */
export function forCreation(noun: Noun, field: Exclude<Field, { kind: 'back' }>): Exclude<Field, { kind: 'back' }> {
  if (!noun.guarded || field.name !== noun.stateField || field.kind !== 'enum') return field
  const begins = wordsOf(field).filter((word) => word === field.default || noun.start.includes(word))
  return { ...field, values: begins }
}

/** The words of an enum field, in their order. */
export function wordsOf(field: Field | undefined): readonly string[] {
  return field?.kind === 'enum' ? (field.values ?? []) : []
}

export function isRequired(field: Field): boolean {
  return field.kind !== 'back' && field.required
}

/** The types that a relation may lead to. */
export function targetsOf(field: Field | undefined): readonly string[] {
  if (field?.kind === 'forward') return field.targets ?? [field.target]
  return field?.kind === 'back' ? [field.target] : []
}

/** The fields that say whose work an entity is: relations to people. */
export function personFields(noun: Noun): string[] {
  const people = Object.values(noun.fields).filter((field) => targetsOf(field).includes('User'))
  return people.map(({ name }) => name).filter((name) => name === 'owner' || name === 'assignee')
}

/** The type that a relation leads to. */
export function targetOf(field: Field | undefined): string | undefined {
  return field?.kind === 'forward' || field?.kind === 'back' ? field.target : undefined
}
