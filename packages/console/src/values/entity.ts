import type { Json, Meta } from '@tildebase/nouns'

/** An entity of any type. */
export type Entity = { readonly [field: string]: Json } & Pick<Meta, '$id' | '$type' | '$version'>

/** Values of fields that people enter, before they are saved. */
export type Draft = { readonly [field: string]: Json }

export function isEntity(value: unknown): value is Entity {
  return typeof value === 'object' && value !== null && typeof (value as Entity).$id === 'string'
}

/** The id, or ids, in a value that may hold embedded entities. */
export function idsOf(value: Json | undefined): string[] {
  const list = Array.isArray(value) ? value : value === null || value === undefined ? [] : [value]
  return list.map((one) => (isEntity(one) ? one.$id : String(one)))
}

/** `contact_…` is a Contact, `featureFlag_…` a FeatureFlag. */
export function typeOfId(id: string): string {
  const prefix = id.slice(0, Math.max(0, id.indexOf('_')))
  return prefix.charAt(0).toUpperCase() + prefix.slice(1)
}
