import { article, listed, type Noun, type Verb } from '@tildebase/nouns'

/** What the routes of every type do, in sentences. */
const OF_TYPES: { readonly [route: string]: (name: string) => string } = {
  'GET /:type': (name) =>
    `Returns a page of ${name} entities: those that match filter, or all, newest first unless sort is given. Any field is also a parameter: stage=Lead. With Accept: text/event-stream the list is live.`,
  'POST /:type': (name) =>
    `Creates ${article(name)} and emits ${name}.created. All faults of the fields are reported at once.`,
  'GET /:type/count': (name) => `Counts the ${name} entities that match filter.`,
  'GET /:type/aggregate': (name) =>
    `Counts ${name} entities in groups, and adds up or averages their fields. At most 1,000 groups, largest first.`,
  'GET /:type/:id': (name) => `Returns ${article(name)}, or 404. With asOf, as it was at that time.`,
  'PUT /:type/:id': (name) =>
    `Merges the given fields into ${article(name)} and emits ${name}.updated. null clears a field; fields that are left out stay as they are.`,
  'DELETE /:type/:id': (name) =>
    `Deletes ${article(name)} and emits ${name}.deleted. It can still be read with asOf, and restored.`,
  'GET /:type/:id/history': (name) => `Returns the versions of ${article(name)}, newest first, each with its event.`,
  'GET /:type/:id/timers': (name) => `Returns the timers of ${article(name)} that will run, the next first.`,
  'GET /:type/:id/diff': (name) => `Compares two versions of ${article(name)} field by field.`,
  'POST /:type/:id/erase': (name) =>
    `Removes the data of ${article(name)} from all versions and events, permanently. The hashes of the log stay valid.`,
}

/** Describes a route of every type for one of them. */
export function typeDescription(route: string, name: string, summary: string): string {
  const text = OF_TYPES[route.replace(/^PATCH/, 'PUT')]
  return text ? text(name) : `${summary}.`
}

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

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
