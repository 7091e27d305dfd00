import { article, listed, type Noun, type Verb } from '@tildebase/nouns'
import { type Body, jsonBody } from './description.ts'
import { argumentsExampleOf, patchExampleOf } from './examples.ts'
import { ANY_OBJECT, type Schema } from './schema.ts'
import { writeSchema } from './types.ts'

const BUILT_IN: { readonly [verb: string]: (name: string) => string } = {
  update: (name) => `The same as PUT /${name}/{id}, as a verb. Emits ${name}.updated.`,
  delete: (name) => `The same as DELETE /${name}/{id}, as a verb. Emits ${name}.deleted.`,
  rollback: (name) =>
    `Writes a new version of ${article(name)} that equals its state at asOf. Emits ${name}.updated. The versions between stay in the history.`,
  restore: (name) => `Brings a deleted ${name} back. Emits ${name}.restored.`,
}

/** What a verb does: where it is possible, what it sets, and its event. */
export function verbDescription({ name, stateField }: Noun, verb: Verb): string {
  const builtIn = Object.hasOwn(BUILT_IN, verb.name) ? BUILT_IN[verb.name] : undefined
  if (builtIn) return builtIn(name)
  const set = Object.entries(verb.set ?? {}).map(([field, value]) => `${field} = ${valueText(value)}`)
  return [
    `Runs ${verb.name} on ${article(name)}.`,
    verb.from && `Possible while ${stateField} is ${listed(verb.from)}; otherwise 409 invalid_transition.`,
    set.length > 0 && `Sets ${set.join(', ')}.`,
    verb.keeps && 'The arguments are stored in the event and change no field.',
    `Emits ${name}.${verb.event}.`,
  ]
    .filter(Boolean)
    .join(' ')
}

/** The body of a verb: its arguments. */
export function verbBody(noun: Noun, verb: Verb): Body {
  const args = verb.args ?? []
  const schema = { ...ANY_OBJECT, properties: Object.fromEntries(args.map((name) => [name, argument(noun, name)])) }
  if (verb.name === 'update')
    return jsonBody(schema, patchExampleOf(noun), 'The fields to change; null clears one.', false)
  const description = args.length > 0 ? `The arguments: ${args.join(', ')}.` : 'The arguments; any field can be given.'
  return jsonBody(schema, argumentsExampleOf(noun, args), description, false)
}

/** An argument that is called as a field is one of its kind. */
function argument(noun: Noun, name: string): Schema {
  return Object.hasOwn(noun.fields, name) ? writeSchema(noun.fields[name]!) : {}
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
