import type { Json } from '@tildebase/nouns'
import { t } from '../texts/text.ts'
import { labelOf } from '../values/format.ts'
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

/**
 * What daily work needs besides an area: the names of colleagues, settings such as the currency, the log and the bin of
 * what the role can read, and views and dashboards.
 */
export const BASICS: Rights = { User: 'read', Setting: 'read', Event: 'read', View: 'write', Dashboard: 'write' }

/** Whether rights include the basics, by their types or by everything. */
export function hasBasics(rights: Rights): boolean {
  return Object.entries(BASICS).every(([type, action]) =>
    [rights[type], rights.all].some((held) => rankOf(held) >= rankOf(action)),
  )
}

function rankOf(action = ''): number {
  return ACTIONS.findIndex(({ value }) => value === action)
}

/** The rights with the basics, or without them. */
export function withBasics(rights: Rights, isWanted: boolean): Rights {
  const others = Object.fromEntries(Object.entries(rights).filter(([area]) => BASICS[area] !== rights[area]))
  return isWanted ? { ...others, ...BASICS } : others
}

/** The rights of scopes such as `read:crm,write:Deal`. */
export function rightsOf(scopes: string): Rights {
  const pairs = scopes
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((scope) => scope.split(':'))
  return Object.fromEntries(pairs.map(([action = '', area = '']) => [area, action]))
}

/** The scopes of rights. Basics that a right on everything includes are left out. */
export function scopesOf(rights: Rights): string {
  const isIncluded = (area: string) => BASICS[area] !== undefined && rankOf(rights[area]) <= rankOf(rights.all)
  const given = Object.entries(rights).filter(([area, action]) => action !== '' && !isIncluded(area))
  return given.map(([area, action]) => `${action}:${area}`).join(',')
}

/** An area in words; `all` is everything. */
export function areaLabel(area: string): string {
  return area === 'all' ? t('Everything') : labelOf(area)
}

/** Rights in words, an area in each: `CRM: read and write`. Basics are one of them. */
export function rightsTexts(scopes: string): string[] {
  const rights = rightsOf(scopes)
  const has = hasBasics(rights) && rankOf(rights.all) < rankOf('write')
  const areas = Object.entries(has ? withBasics(rights, false) : rights)
  const texts = areas.map(([area, action]) => {
    const label = ACTIONS.find(({ value }) => value === action)?.label ?? action
    return `${areaLabel(area)}: ${label}`
  })
  return has ? [...texts, t('Everyday basics')] : texts
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
