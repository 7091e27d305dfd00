import { didYouMean, type Json, type JsonObject, listed, META_FIELDS } from '@tildebase/nouns'

/** What the values of a step can refer to: the event, and what the steps before gave. */
export interface Sources {
  readonly event: JsonObject
  readonly steps: readonly (Json | undefined)[]
}

/** The parts of an event record. */
const PARTS = [
  'id',
  'type',
  'timestamp',
  'recordedAt',
  'tenant',
  'data',
  'previous',
  'args',
  'seq',
  'verb',
  'entityType',
  'entityId',
  'version',
  'actor',
  'onBehalfOf',
  'correlation',
]
/** The names that begin with $ in the data of an event. */
const META = [...Object.keys(META_FIELDS), '$context'].filter((name) => name.startsWith('$'))
const REFERENCE = /^\$(?:event|steps\.(\d+))(?:\.(.+))?$/
/** A reference inside a longer text. Its path ends where a name cannot continue. */
const EMBEDDED = /\$(?:event|steps\.\d+)(?:\.[A-Za-z0-9_$]+)*|\$secrets\.([A-Za-z0-9_]+)/g

/** A value with `$event.…` and `$steps.<n>.…` replaced by what they refer to; undefined when that is not there. */
export function resolve(value: Json, sources: Sources): Json | undefined {
  if (typeof value === 'string') return resolveText(value, sources)
  return mapped(value, (one) => resolve(one, sources))
}

/** A reference inside a text of a verb or a message: `$event` alone is a word there. */
const IN_TEXT = /\$(?:event(?:\.[A-Za-z0-9_$]+)+|steps\.\d+(?:\.[A-Za-z0-9_$]+)*)/g

/** The same for values in which references may be part of a longer text. */
export function resolveTexts(value: Json, sources: Sources, encode = (part: string) => part): Json | undefined {
  if (typeof value !== 'string') return mapped(value, (one) => resolveTexts(one, sources, encode))
  if (REFERENCE.test(value)) {
    const whole = resolveText(value, sources)
    if (whole !== undefined || value.match(IN_TEXT)?.[0] === value) return whole
  }
  return value.replace(IN_TEXT, (reference) => encode(textOf(resolveText(reference, sources))))
}

/** How references become text. */
export interface Filling {
  readonly sources: Sources
  /** The value of a secret by its name, or a text in its place. */
  readonly secret: (name: string) => string
  /** What is done with a value before it is put into a text. */
  readonly encode?: (text: string) => string
}

/** The same with secrets. */
export function fill(value: Json, filling: Filling): Json | undefined {
  return typeof value === 'string' ? fillText(value, filling) : mapped(value, (one) => fill(one, filling))
}

/** A text with the references in it replaced. A reference that is the whole text gives its value as it is. */
function fillText(text: string, { sources, secret, encode = (part) => part }: Filling): Json | undefined {
  if (REFERENCE.test(text)) {
    const value = resolveText(text, sources)
    // Without a value it may be a reference that is followed by more text.
    if (value !== undefined || text.match(EMBEDDED)?.[0] === text) return value
  }
  return text.replace(EMBEDDED, (reference, name: string | undefined) => {
    if (reference === text) return secret(name!)
    return encode(name === undefined ? textOf(resolveText(reference, sources)) : secret(name))
  })
}

/** A value as part of a text. */
export function textOf(value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The names of the secrets in a value. */
export function secretsIn(value: unknown): string[] {
  const names = [...(JSON.stringify(value) ?? '').matchAll(EMBEDDED)].flatMap(([, name]) => name ?? [])
  return [...new Set(names)]
}

/** What is wrong with the references of a step: it can refer to the steps before it. */
export function faultsIn(value: Json | undefined, step: number): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => faultsIn(one, step))
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap((one) => faultsIn(one, step))
  if (typeof value !== 'string' || !/^\$(?:event|steps|secrets)\b/.test(value)) return []
  if (value.startsWith('$secrets'))
    return ['secrets can be used in the headers, the URL and the body of a request only']
  const reference = REFERENCE.exec(value)
  if (!reference) return [`${value.slice(0, 60)} is not a reference, such as $event.data.name or $steps.0.$id`]
  return referenceFaults(value, step)
}

/** What is wrong with the references inside the texts of a request or a question. */
export function faultsInTexts(value: unknown, step: number): string[] {
  const references = [...(JSON.stringify(value) ?? '').matchAll(EMBEDDED)].map(([reference]) => reference)
  return references.flatMap((reference) => referenceFaults(reference, step))
}

/** A step can refer to the steps before it, and to the parts that an event has. Fields of data can be undeclared. */
function referenceFaults(reference: string, step: number): string[] {
  const [, at, path] = REFERENCE.exec(reference) ?? []
  const shown = reference.slice(0, 60)
  if (at !== undefined) return Number(at) >= step ? [`${shown} refers to a step that has not run yet`] : []
  const [part = 'data', name = ''] = path?.split('.') ?? []
  if (reference.startsWith('$secrets')) return []
  if (!PARTS.includes(part)) return [`${shown}: an event has no ${unknownAmong(part, PARTS)}`]
  const isEntity = part === 'data' || part === 'previous'
  return isEntity && name.startsWith('$') && !META.includes(name)
    ? [`${shown}: an entity has no ${unknownAmong(name, META)}`]
    : []
}

function unknownAmong(name: string, known: readonly string[]): string {
  return `${name.slice(0, 40)}${didYouMean(name, known) || `; it has ${listed(known, 'and')}`}`
}

function resolveText(text: string, { event, steps }: Sources): Json | undefined {
  const reference = REFERENCE.exec(text)
  if (!reference) return text
  const [, step, path] = reference
  let value: Json | undefined = step === undefined ? event : steps[Number(step)]
  for (const name of path?.split('.') ?? []) {
    value = typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? within(value, name) : undefined
  }
  return value
}

/** A list or an object with its values replaced; entries of an object without a value are left out. */
function mapped(value: Json, replace: (one: Json) => Json | undefined): Json {
  if (Array.isArray(value)) return value.map((one) => replace(one) ?? null)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).flatMap(([key, one]) => {
    const replaced = replace(one)
    return replaced === undefined ? [] : [[key, replaced] as const]
  })
  return Object.fromEntries(entries)
}

function within(value: JsonObject | readonly Json[], name: string): Json | undefined {
  return (value as JsonObject)[name]
}
