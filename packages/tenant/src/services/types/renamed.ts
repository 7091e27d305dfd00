import { isPlainObject, type Json, type JsonObject, type Noun, type Nouns } from '@tildebase/nouns'

/** A field of a type that gets another name. `nouns` are the types as they were. */
export interface Renaming {
  readonly nouns: Nouns
  readonly type: string
  readonly from: string
  readonly to: string
}

/** A filter over entities of a type, with the new name where it reads the field: its own, or over relations. */
export function renamedFilter(filter: JsonObject, noun: Noun, renaming: Renaming): JsonObject {
  return renamedKeys(filter, (path) => renamedPath(path.split('.'), noun, renaming).join('.'))
}

function renamedPath([segment, ...rest]: readonly string[], at: Noun | undefined, renaming: Renaming): string[] {
  if (segment === undefined) return []
  const { nouns, type, from, to } = renaming
  const field = at && Object.hasOwn(at.fields, segment) ? at.fields[segment] : undefined
  const target = field?.kind === 'forward' || field?.kind === 'back' ? nouns.get(field.target) : undefined
  return [at?.name === type && segment === from ? to : segment, ...renamedPath(rest, target, renaming)]
}

/** The filter of a webhook over the records of events: all its patterns name the type, so its data is that of the type. */
export function renamedRecordFilter(filter: JsonObject, events: readonly string[], renaming: Renaming): JsonObject {
  const { from, to } = renaming
  if (events.length === 0 || !events.every((pattern) => isAbout(pattern, renaming))) return filter
  const keys = renamedKeys(filter, (path) => renamedAfter(path, ['data.', 'previous.', 'args.'], renaming))
  return mapped(keys, (key, value) => (key === 'changed' ? renamedValue(value, from, to) : value)) as JsonObject
}

/** What a workflow does, or a run that has begun: filters, arguments and references. Code stays as it is. */
export function renamedBehaviour(behaviour: JsonObject, renaming: Renaming): JsonObject {
  const { triggerEvent, filter, steps } = behaviour
  const isTrigger = isAbout(triggerEvent, renaming)
  const noun = isTrigger ? renaming.nouns.get(renaming.type) : undefined
  const list = Array.isArray(steps) ? steps : []
  const places = [
    ...(isTrigger ? ['event.data.', 'event.previous.', 'event.args.'] : []),
    ...list.flatMap((step, n) => {
      if (!isPlainObject(step)) return []
      if (step.type === renaming.type) return [`steps.${n}.`]
      return isAbout(step.waitFor, renaming) ? [`steps.${n}.data.`, `steps.${n}.previous.`] : []
    }),
  ]
  return {
    ...behaviour,
    ...(noun && isPlainObject(filter) && { filter: renamedFilter(filter as JsonObject, noun, renaming) }),
    ...(Array.isArray(steps) && { steps: list.map((step) => renamedStep(step as Json, places, renaming)) }),
  }
}

function renamedStep(step: Json, places: readonly string[], renaming: Renaming): Json {
  if (!isPlainObject(step)) return step
  const { nouns, type, from, to } = renaming
  const parts = Object.entries(step as JsonObject).map(([part, value]): [string, Json] => {
    if (part === 'code') return [part, value]
    if (part === 'undo') return [part, renamedStep(value, places, renaming)]
    if (part === 'if' && isPlainObject(value))
      return [
        part,
        renamedTexts(
          renamedKeys(value as JsonObject, (path) => renamedAfter(path, places, renaming)),
          places,
          renaming,
        ),
      ]
    if (part === 'filter' && isPlainObject(value) && isAbout(step.waitFor, renaming))
      return [part, renamedTexts(renamedFilter(value as JsonObject, nouns.get(type)!, renaming), places, renaming)]
    if (part === 'args' && isPlainObject(value) && step.type === type)
      return [
        part,
        renamedTexts(
          mapped(
            value as JsonObject,
            (_, one) => one,
            (key) => (key === from ? to : key),
          ),
          places,
          renaming,
        ),
      ]
    return [part, renamedTexts(value, places, renaming)]
  })
  return Object.fromEntries(parts)
}

/** Texts with the new name in their references. */
function renamedTexts(value: Json, places: readonly string[], names: Pick<Renaming, 'from' | 'to'>): Json {
  const { from, to } = names
  if (typeof value === 'string') {
    // Names of fields are letters and digits: the dots alone mean something else in a pattern.
    const found = places.map((place) => `\\$${place.replaceAll('.', '\\.')}`).join('|')
    return found === '' ? value : value.replace(new RegExp(`(${found})${from}(?![\\w$])`, 'g'), `$1${to}`)
  }
  return mapped(value, (_, one) => renamedTexts(one, places, names))
}

/** Whether a pattern of events names the type. */
export function isAbout(pattern: unknown, { type }: Renaming): boolean {
  return typeof pattern === 'string' && pattern.split('.')[0]!.toLowerCase() === type.toLowerCase()
}

function renamedAfter(path: string, places: readonly string[], { from, to }: Renaming): string {
  const place = places.find((one) => path.startsWith(one))
  if (place === undefined) return path
  const [head, ...rest] = path.slice(place.length).split('.')
  return head === from ? [place + to, ...rest].join('.') : path
}

/** A filter with other names of its fields. Conditions that get the same name all remain. */
function renamedKeys(filter: JsonObject, rename: (path: string) => string): JsonObject {
  const parts = Object.entries(filter).map(([key, value]): [string, Json] => {
    if (!key.startsWith('$')) return [rename(key), value]
    if ((key !== '$and' && key !== '$or') || !Array.isArray(value)) return [key, value]
    return [key, value.map((one) => (isPlainObject(one) ? renamedKeys(one as JsonObject, rename) : (one as Json)))]
  })
  const isUnique = new Set(parts.map(([key]) => key)).size === parts.length
  return isUnique ? Object.fromEntries(parts) : { $and: parts.map(([key, value]) => ({ [key]: value })) }
}

function renamedValue(value: Json, from: string, to: string): Json {
  return typeof value === 'string'
    ? value === from
      ? to
      : value
    : mapped(value, (_, one) => renamedValue(one, from, to))
}

function mapped(value: Json, map: (key: string, one: Json) => Json, name = (key: string) => key): Json {
  if (Array.isArray(value)) return value.map((one, n) => map(String(n), one as Json))
  if (!isPlainObject(value)) return value
  return Object.fromEntries(Object.entries(value as JsonObject).map(([key, one]) => [name(key), map(key, one)]))
}
