import { signal } from '@preact/signals'
import { enter, place } from './place.ts'

/** The key in use and the tenant it opens. It lives in memory, or for as long as the tab if its owner asks for that. */
export interface Session {
  readonly tenant: string
  readonly key: string
}

const STORE = 'tildebase.session'

export const session = signal<Session | null>(kept())

/** Why the key box is shown again, when it is. */
export const farewell = signal<string | null>(null)

/** Opens a tenant with a key. Everything that was loaded with another one is dropped with its page. */
export function open(next: Session, keep: boolean): void {
  if (keep) sessionStorage.setItem(STORE, JSON.stringify(next))
  else sessionStorage.removeItem(STORE)
  farewell.value = null
  enter(next.tenant)
  session.value = next
}

/** Goes back to the key box. The address stays, so the next key continues there. */
export function leave(reason: string | null = null): void {
  sessionStorage.removeItem(STORE)
  farewell.value = reason
  session.value = null
}

/** The tenant that a key names at its end. */
export function tenantOf(key: string): string | null {
  return /~([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)$/.exec(key.trim())?.[1] ?? null
}

function kept(): Session | null {
  try {
    const found = JSON.parse(sessionStorage.getItem(STORE) ?? 'null') as Session | null
    // A link to another tenant wins over the key of the last one.
    return found && (place.value.tenant === null || place.value.tenant === found.tenant) ? found : null
  } catch {
    return null
  }
}

const first = session.value
if (first) enter(first.tenant)

window.addEventListener('hashchange', () => {
  const { tenant } = place.value
  if (session.value && tenant !== null && tenant !== session.value.tenant) leave(`This link is into ~${tenant}.`)
})
