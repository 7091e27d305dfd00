import { Problem } from '../problem.ts'
import type { Auth } from '../transport/wire.ts'
import { openPlace, type Place } from './place.ts'

/** A person who signed in. */
export interface SignedIn {
  readonly $id: string
  readonly name: string
  readonly email: string
  readonly role: string | null
}

/** The session of a person: pass its `auth` to `tildebase`. */
export interface Session {
  readonly user: SignedIn
  readonly auth: Auth
  /** Signs out. */
  end(): Promise<void>
}

/** Signs in with an e-mail address and a password. In a browser only on a page that the service's own origin serves. */
export function signIn(place: Place, credentials: { readonly email: string; readonly password: string }) {
  return startSession(place, '/session', credentials)
}

/** Accepts an invitation: `token` is the part after `#` of its link. The password has 12 characters or more. */
export function acceptInvitation(place: Place, answer: { readonly token: string; readonly password: string }) {
  return startSession(place, '/invitation/accept', answer)
}

/** Signs in with a passkey, in a browser. */
export async function signInWithPasskey(place: Place): Promise<Session> {
  const { wire, root } = openPlace(place)
  const path = '/session/passkey'
  const { options, challenge } = await wire.json(`${root}${path}/options`, { method: 'POST', body: {} })
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  const credential = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential
  return startSession(place, path, { challenge, response: credential.toJSON() })
}

/** The session of this browser, such as after a reload; null if there is none. */
export async function currentSession(place: Place): Promise<Session | null> {
  const { wire, root } = openPlace(place)
  try {
    const { user, csrf } = await wire.json(`${root}/session`)
    return user && csrf ? sessionOf(place, user, csrf, null) : null
  } catch (reason) {
    if (reason instanceof Problem && reason.code === 'unauthorized') return null
    throw reason
  }
}

async function startSession(place: Place, path: string, body: object): Promise<Session> {
  const { wire, root } = openPlace(place)
  const response = await wire.send(`${root}${path}`, { method: 'POST', body, once: true })
  const { user, csrf } = await response.json()
  // A browser keeps the cookie and does not show it. Other programs have to send it themselves.
  const [cookie = null] = response.headers.getSetCookie().map((text) => text.split(';')[0]!)
  return sessionOf(place, user, csrf, cookie)
}

function sessionOf(place: Place, user: SignedIn, csrf: string, cookie: string | null): Session {
  const headers = async (method: string) => ({
    ...(cookie !== null && { cookie }),
    ...(method !== 'GET' && { 'x-tilde-csrf': csrf }),
  })
  return {
    user,
    auth: { headers },
    async end() {
      const { wire, root } = openPlace(place)
      await wire.send(`${root}/session`, { method: 'DELETE', headers: await headers('DELETE') })
    },
  }
}
