import { place } from '../place.ts'

const STORE = 'tildebase.visits'

/** When this browser last looked at the tenant, before now; and remembers now for the next time. */
export function lastVisit(): string | null {
  const key = place.value.tenant ?? ''
  const known = visits.get(key)
  if (known !== undefined) return known
  const all = stored()
  visits.set(key, all[key] ?? null)
  localStorage.setItem(STORE, JSON.stringify({ ...all, [key]: new Date().toISOString() }))
  return all[key] ?? null
}

/** The visit before this one, by tenant, for as long as the page is open. */
const visits = new Map<string, string | null>()

function stored(): { readonly [tenant: string]: string } {
  try {
    return JSON.parse(localStorage.getItem(STORE) ?? '{}')
  } catch {
    return {}
  }
}
