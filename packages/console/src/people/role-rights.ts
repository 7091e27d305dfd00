import type { Json } from '@tildebase/nouns'
import { t } from '../texts/text.ts'
import { type Noun, personFields } from '../values/noun.ts'

/** What a role may do in each area: `{ crm: 'write', support: 'read' }`. */
export type Rights = { readonly [area: string]: string }

/** Which records of each type a role sees, as filters. */
export type RowFilters = { readonly [type: string]: Json }

/** The actions of a scope, each with what people call it. */
export const ACTIONS = [
  { value: '', label: t('nothing') },
  { value: 'read', label: t('read') },
  { value: 'propose', label: t('read and propose') },
  { value: 'write', label: t('read and write') },
  { value: 'admin', label: t('read, write and administer') },
]

/** The rights of scopes such as `read:crm,write:Deal`. */
export function rightsOf(scopes: string): Rights {
  const pairs = scopes
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((scope) => scope.split(':'))
  return Object.fromEntries(pairs.map(([action = '', area = '']) => [area, action]))
}

/** The scopes of rights. */
export function scopesOf(rights: Rights): string {
  const given = Object.entries(rights).filter(([, action]) => action !== '')
  return given.map(([area, action]) => `${action}:${area}`).join(',')
}

/** The row filters of a role that sees its own records only, for every type that has an owner or an assignee. */
export function ownRows(types: Iterable<Noun>, rights: Rights): RowFilters {
  const filters: { [type: string]: Json } = {}
  for (const noun of types) {
    const isReached = ['all', noun.domain, noun.name].some((area) => (rights[area] ?? '') !== '')
    const fields = personFields(noun).map((name) => ({ [name]: '$user.$id' }))
    if (isReached && fields.length > 0) filters[noun.name] = fields.length === 1 ? fields[0]! : { $or: fields }
  }
  return filters
}
