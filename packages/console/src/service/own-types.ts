import { place } from '../place.ts'
import { mayDeclare } from './access.ts'
import { may } from './rights.ts'
import { loadNouns, nouns } from './schema.ts'
import { request } from './service.ts'

/** Where the console keeps what people make in it: in the tenant, or in this browser when the key may not write there. */
export type Store = 'tenant' | 'browser'

/** The types of the console's own, in the notation of types. */
const NOTATIONS = {
  View: { name: 'string!', type: 'string!#', look: 'json', shared: 'boolean = false', owner: 'string#' },
  Dashboard: { name: 'string!', tiles: 'json', shared: 'boolean = true', owner: 'string#' },
  Setting: { $domain: 'platform', name: 'string!##', value: 'json' },
}

export type OwnType = keyof typeof NOTATIONS

export const OWN_TYPES = Object.keys(NOTATIONS) as OwnType[]

/** The store that this key can write documents of a type to. */
export function storeOf(type: string): Store {
  const noun = nouns.value.get(type)
  return noun ? (may('write', noun) ? 'tenant' : 'browser') : mayDeclare() ? 'tenant' : 'browser'
}

/** Declares a type of the console's own, unless the tenant has it already. */
export async function ensureType(type: OwnType): Promise<void> {
  if (nouns.value.has(type)) return
  await request('PUT', `/schema/${type}`, { body: NOTATIONS[type] })
  await loadNouns()
}

/** The documents of a kind that this browser keeps for the tenant. */
export function localDocuments<T>(kind: string): readonly T[] {
  try {
    return JSON.parse(localStorage.getItem(kind) ?? '{}')[place.value.tenant ?? ''] ?? []
  } catch {
    return []
  }
}

export function keepDocuments<T>(kind: string, documents: readonly T[]): void {
  let all: object
  try {
    all = JSON.parse(localStorage.getItem(kind) ?? '{}')
  } catch {
    all = {}
  }
  localStorage.setItem(kind, JSON.stringify({ ...all, [place.value.tenant ?? '']: documents }))
}
