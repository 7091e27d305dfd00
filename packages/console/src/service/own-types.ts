import { place } from '../place.ts'
import { mayDeclare } from './access.ts'
import { may } from './rights.ts'
import { nouns } from './schema.ts'

/** Where the console keeps what people make in it: in the tenant, or in this browser when the key may not write there. */
export type Store = 'tenant' | 'browser'

/** The store that this key can write documents of a type to. */
export function storeOf(type: string): Store {
  const noun = nouns.value.get(type)
  return noun ? (may('write', noun) ? 'tenant' : 'browser') : mayDeclare() ? 'tenant' : 'browser'
}

/** The documents of a kind that this browser keeps for the tenant. */
export function localDocuments<T>(kind: string): readonly T[] {
  try {
    return JSON.parse(localStorage.getItem(kind) ?? '{}')[place.value.tenant ?? ''] ?? []
  } catch {
    return []
  }
}
