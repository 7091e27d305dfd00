import { place } from '../place.ts'
import { loadNouns, nouns } from '../service/schema.ts'
import { request } from '../service/service.ts'

/** The types of the console's own, in the notation of types. */
const NOTATIONS = {
  View: { name: 'string!', type: 'string!#', look: 'json', shared: 'boolean = false', owner: 'string#' },
  Dashboard: { name: 'string!', tiles: 'json', shared: 'boolean = true', owner: 'string#' },
  Setting: { $domain: 'platform', name: 'string!##', value: 'json' },
}

type OwnType = keyof typeof NOTATIONS

export const OWN_TYPES = Object.keys(NOTATIONS) as OwnType[]

/** Declares a type of the console's own, unless the tenant has it already. */
export async function ensureType(type: OwnType): Promise<void> {
  if (nouns.value.has(type)) return
  await request('PUT', `/schema/${type}`, { body: NOTATIONS[type] })
  await loadNouns()
}

/** Keeps the documents of a kind for the tenant in this browser. */
export function keepDocuments<T>(kind: string, documents: readonly T[]): void {
  let all: object
  try {
    all = JSON.parse(localStorage.getItem(kind) ?? '{}')
  } catch {
    all = {}
  }
  localStorage.setItem(kind, JSON.stringify({ ...all, [place.value.tenant ?? '']: documents }))
}
