import { signal } from '@preact/signals'
import { type Entity, isEntity } from '../values/entity.ts'
import { dayText, labelOf } from '../values/format.ts'
import { type Noun, TITLES, titleField, titleRelations } from '../values/noun.ts'
import { request } from './service.ts'

/** A list as the service answers it. */
export interface Page<T = Entity> {
  readonly results: readonly T[]
  readonly total: number
  readonly hasMore: boolean
  readonly cursor: string | null
}

/** The tenant's types by name; empty until they are loaded. */
export const nouns = signal<ReadonlyMap<string, Noun>>(new Map())

export async function loadNouns(): Promise<void> {
  const { types } = await request<{ types: Noun[] }>('GET', '/schema')
  nouns.value = new Map(types.map((noun) => [noun.name, noun]))
}

/** The types by domain, in the order of the schema. */
export function byDomain(all: Iterable<Noun>): [string, Noun[]][] {
  const groups = new Map<string, Noun[]>()
  for (const noun of all) groups.set(noun.domain, [...(groups.get(noun.domain) ?? []), noun])
  return [...groups]
}

/** What to call an entity. */
export function titleOf(entity: { readonly [field: string]: unknown }, noun?: Noun): string {
  const own = noun ? titleField(noun) : null
  const field = [...(own === null ? [] : [own]), ...TITLES].find(
    (name) => typeof entity[name] === 'string' && entity[name] !== '',
  )
  if (field) return String(entity[field])
  const related = (noun ? titleRelations(noun) : []).map((name) => entity[name]).filter(isEntity)
  if (related.length > 0) {
    const names = related.slice(0, 2).map((one) => titleOf(one, nouns.value.get(one.$type)))
    return names.join(' · ')
  }
  const made = entity.$createdAt ?? entity.createdAt
  const kind = noun?.name ?? entity.$type
  if (typeof kind !== 'string') return String(entity.$id ?? '')
  return typeof made === 'string' ? `${labelOf(kind)} of ${dayText(made)}` : labelOf(kind)
}
