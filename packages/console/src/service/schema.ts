import { computed, signal } from '@preact/signals'
import { t } from '../texts/text.ts'
import { type Entity, isEntity } from '../values/entity.ts'
import { dayText, labelOf } from '../values/format.ts'
import { type Noun, TITLES, titleField, titleRelations } from '../values/noun.ts'
import { usable } from './rights.ts'
import { request } from './service.ts'

/** A list as the service answers it. */
export interface Page<T = Entity> {
  readonly results: readonly T[]
  readonly total: number
  readonly hasMore: boolean
  readonly cursor: string | null
}

const declared = signal<ReadonlyMap<string, Noun>>(new Map())

/** The tenant's types by name, with the fields that the key can use; empty until they are loaded. */
export const nouns = computed<ReadonlyMap<string, Noun>>(
  () => new Map([...declared.value].map(([name, noun]) => [name, usable(noun, declared.value)])),
)

/** Whether a type has a field, also one that the key cannot use. */
export function isDeclared(type: string, field: string): boolean {
  return declared.value.get(type)?.fields[field] !== undefined
}

export async function loadNouns(): Promise<void> {
  const { types } = await request<{ types: Noun[] }>('GET', '/schema')
  declared.value = new Map(types.map((noun) => [noun.name, noun]))
}

/** The types by domain. A type that is declared again is the last of the schema, so names give the order of a domain. */
export function byDomain(all: Iterable<Noun>): [string, Noun[]][] {
  const groups = new Map<string, Noun[]>()
  for (const noun of all) groups.set(noun.domain, [...(groups.get(noun.domain) ?? []), noun])
  const named = (a: Noun, b: Noun) => labelOf(a.path).localeCompare(labelOf(b.path))
  return [...groups].map(([domain, group]) => [domain, group.sort(named)])
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
  return typeof made === 'string' ? t('{} from {}', labelOf(kind), dayText(made)) : labelOf(kind)
}
