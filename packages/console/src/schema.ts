import { signal } from '@preact/signals'
import { ask } from './api.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type Entity = { readonly [field: string]: Json } & {
  readonly $id: string
  readonly $type: string
  readonly $version: number
}

export interface Page<T = Entity> {
  readonly results: readonly T[]
  readonly total: number
  readonly hasMore: boolean
  readonly cursor: string | null
}

/** A field, as `GET …/schema` tells it. */
export interface Field {
  readonly name: string
  readonly kind: 'string' | 'number' | 'boolean' | 'date' | 'datetime' | 'json' | 'secret' | 'enum' | 'forward' | 'back'
  readonly list: boolean
  readonly required?: boolean
  readonly service?: boolean
  readonly values?: readonly string[]
  readonly default?: Json
  readonly target?: string
  readonly via?: string
}

export interface Verb {
  readonly name: string
  readonly event: string
  readonly from?: readonly string[]
  readonly args?: readonly string[]
}

export interface Noun {
  readonly name: string
  readonly domain: string
  readonly path: string
  readonly stateField: string | null
  readonly strict: boolean
  readonly fields: { readonly [name: string]: Field }
  readonly verbs: { readonly [name: string]: Verb }
}

/** The tenant's types by name; empty until they are loaded. */
export const nouns = signal<ReadonlyMap<string, Noun>>(new Map())

export async function loadNouns(): Promise<void> {
  const { types } = await ask<{ types: Noun[] }>('GET', '/schema')
  nouns.value = new Map(types.map((noun) => [noun.name, noun]))
}

/** The types by domain, in the order of the schema. */
export function byDomain(all: Iterable<Noun>): [string, Noun[]][] {
  const groups = new Map<string, Noun[]>()
  for (const noun of all) groups.set(noun.domain, [...(groups.get(noun.domain) ?? []), noun])
  return [...groups]
}

const TITLES = ['name', 'title', 'subject', 'number', 'key', 'email', 'url', 'domain', 'type']

/** The field that an entity is called by. */
export function titleField(noun: Noun | undefined): string {
  return TITLES.find((name) => noun?.fields[name]) ?? '$id'
}

/** What to call an entity. */
export function titleOf(entity: { readonly [field: string]: unknown }, noun?: Noun): string {
  const field = (noun ? [titleField(noun), ...TITLES] : TITLES).find(
    (name) => typeof entity[name] === 'string' && entity[name] !== '',
  )
  return String(entity[field ?? '$id'] ?? '')
}

const BUILT_IN = new Set(['create', 'update', 'delete', 'rollback', 'restore'])

/** The verbs of its own that an entity may run from the state it is in. */
export function verbsFor(noun: Noun, entity: Entity): Verb[] {
  const state = noun.stateField === null ? null : entity[noun.stateField]
  return Object.values(noun.verbs).filter(
    ({ name, from }) => !BUILT_IN.has(name) && (from === undefined || from.includes(String(state))),
  )
}

/** The fields that people may write. */
export function writable(noun: Noun): Field[] {
  return Object.values(noun.fields).filter(
    (field) => field.kind !== 'back' && !field.service && field.kind !== 'secret',
  )
}

/** The columns that a grid shows until somebody chooses others. */
export function defaultColumns(noun: Noun): string[] {
  const fields = Object.values(noun.fields).filter(
    ({ kind }) => kind !== 'back' && kind !== 'json' && kind !== 'secret',
  )
  const first = new Set(['forward', 'number'].map((kind) => fields.find((field) => field.kind === kind)))
  const weight = (field: Field) =>
    (field.name === titleField(noun) ? 100 : 0) +
    (field.name === noun.stateField ? 50 : 0) +
    (field.required ? 30 : 0) +
    (first.has(field) ? 12 : 0) +
    ({ forward: 0, number: 1, enum: 9, date: 8, datetime: 4, boolean: 3 }[field.kind as string] ?? 5) +
    (field.name === 'email' ? 20 : 0)
  const chosen = [...fields].sort((a, b) => weight(b) - weight(a)).slice(0, 5)
  return [...chosen.map(({ name }) => name), '$updatedAt']
}

export function isEntity(value: unknown): value is Entity {
  return typeof value === 'object' && value !== null && typeof (value as Entity).$id === 'string'
}

/** `contact_…` is a Contact, `featureFlag_…` a FeatureFlag. */
export function typeOfId(id: string): string {
  const prefix = id.slice(0, Math.max(0, id.indexOf('_')))
  return prefix.charAt(0).toUpperCase() + prefix.slice(1)
}
