import type { Entity } from '../values/entity.ts'
import type { Noun } from '../values/noun.ts'

/** Entities that are probably the same one, and the field that says so. */
export interface Group {
  readonly field: string
  readonly entities: readonly Entity[]
}

const KEYS = ['email', 'phone', 'mobile', 'domain', 'taxId', 'name']

/** The entities that share an address, a number or a name, however it is written. Each is in one group. */
export function groupsOf(noun: Noun, entities: readonly Entity[]): Group[] {
  const grouped = new Set<string>()
  return KEYS.filter((name) => noun.fields[name]?.kind === 'string').flatMap((field) => {
    const left = entities.filter(({ $id }) => !grouped.has($id))
    const same = [...Map.groupBy(left, (entity) => keyOf(field, entity[field]))].filter(
      ([key, some]) => key !== '' && some.length > 1,
    )
    for (const [, some] of same) for (const { $id } of some) grouped.add($id)
    return same.map(([, some]) => ({ field, entities: some }))
  })
}

/** What two spellings of one thing have in common: `Ada  Byron` and `byron, ada`, `+49 30 1` and `0049301`. */
function keyOf(field: string, value: unknown): string {
  if (typeof value !== 'string') return ''
  if (field === 'phone' || field === 'mobile') {
    const digits = value.replace(/^\s*\+/, '00').replace(/\D/g, '')
    return digits.length < 5 ? '' : digits
  }
  const plain = value.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  if (field !== 'name') return plain.trim()
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? []).sort().join(' ')
}
