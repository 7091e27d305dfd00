import { signal } from '@preact/signals'
import { enter, place } from '../place.ts'
import { t } from '../texts/text.ts'
import { fetchEarly, forgetEarly } from './early.ts'

/**
 * What opens the tenant: a key, which is in memory, or for as long as the tab if its owner asks for that; or a person
 * who is signed in, whose cookie the browser keeps to itself.
 */
export interface Session {
  readonly tenant: string
  readonly key: string
  /** The person's token for writes; absent when a key is used. */
  readonly csrf?: string
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

/** Opens the tenant of the address if a person is signed in to it. */
export async function openSignedIn(): Promise<void> {
  const { tenant } = place.value
  try {
    if (session.value !== null || tenant === null) return
    const response = await fetchEarly(`/~${encodeURIComponent(tenant)}/session`, { cache: 'no-store' })
    if (!response.ok) return forgetEarly()
    const { csrf } = (await response.json()) as { csrf?: string }
    if (csrf && session.value === null && place.value.tenant === tenant)
      session.value = { tenant, key: 'session', csrf }
  } catch {
    // Without an answer there is the key box.
  }
}

/** Signs the person out, or forgets the key. */
export async function signOut(): Promise<void> {
  const mine = session.value
  if (!mine?.csrf) return leave()
  const headers = { 'x-tilde-csrf': mine.csrf }
  await fetch(`/~${mine.tenant}/session`, { method: 'DELETE', headers }).catch(() => undefined)
  // People come back as people: the box for keys is not for them.
  location.assign(signInAddress(mine.tenant))
}

/** The page for signing in to a tenant, which leads back to where the console is. */
export function signInAddress(tenant: string): string {
  return `/~${tenant}/sign-in?return=${encodeURIComponent(`/console${location.hash || `#/~${tenant}`}`)}`
}

/** Whether a page that is loaded again is still signed in: a key that is in memory only would be lost. */
export function outlivesThePage(): boolean {
  return session.value?.csrf !== undefined || sessionStorage.getItem(STORE) !== null
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

/** Whether a session is the operator's: a key of a tenant names it at its end, and the operator's key does not. */
export function isOperator({ key, csrf }: Session): boolean {
  return csrf === undefined && key !== '' && tenantOf(key) === null
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
  if (session.value && tenant !== null && tenant !== session.value.tenant) {
    // The operator's key opens every tenant.
    if (isOperator(session.value))
      return open({ tenant, key: session.value.key }, sessionStorage.getItem(STORE) !== null)
    leave(t('This link is into ~{}.', tenant))
    void openSignedIn()
  }
})
