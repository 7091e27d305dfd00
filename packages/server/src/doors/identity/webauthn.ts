import type { JsonObject } from '@tildebase/nouns'
import type { Credential, User } from '@tildebase/tenant/internal'
import type { Call } from '../call.ts'

/** Loaded when a passkey is first used: most services start often and sign in rarely. */
const library = () => import('@simplewebauthn/server')

export async function authenticationOptions(call: Call) {
  const { generateAuthenticationOptions } = await library()
  return generateAuthenticationOptions({ rpID: relyingParty(call), userVerification: 'required' })
}

export async function registrationOptions(call: Call, user: User, known: readonly string[]) {
  const { generateRegistrationOptions } = await library()
  return generateRegistrationOptions({
    rpID: relyingParty(call),
    rpName: `Tildebase ${call.tenant.slug}`,
    userID: new TextEncoder().encode(user.id),
    userName: user.email,
    userDisplayName: user.name,
    attestationType: 'none',
    excludeCredentials: known.map((id) => ({ id })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
}

/** The passkey that a browser made for a challenge, or null when it cannot be verified. */
export async function registered(
  call: Call,
  response: object,
  challenge: string,
): Promise<{ readonly id: string; readonly data: JsonObject } | null> {
  const { verifyRegistrationResponse } = await library()
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: response as never,
      expectedChallenge: challenge,
      expectedOrigin: origins(call),
      expectedRPID: relyingParty(call),
      requireUserVerification: true,
    })
    if (!verified || !registrationInfo) return null
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential
    return { id, data: { publicKey: textOf(publicKey), counter, transports } }
  } catch {
    return null
  }
}

/** How often the passkey was used by now, or null when the answer to the challenge is not its own. */
export async function authenticated(
  call: Call,
  response: object,
  challenge: string,
  { id, data }: Credential,
): Promise<number | null> {
  const { verifyAuthenticationResponse } = await library()
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: response as never,
      expectedChallenge: challenge,
      expectedOrigin: origins(call),
      expectedRPID: relyingParty(call),
      requireUserVerification: true,
      credential: { id, publicKey: bytesOf(data.publicKey as string), counter: data.counter as number },
    })
    return verified ? authenticationInfo.newCounter : null
  } catch {
    return null
  }
}

/** The name that passkeys are bound to: that of {base_url}, or else of the host that was asked. */
function relyingParty({ context }: Call): string {
  return new URL(context).hostname
}

function origins({ context, address }: Call): string[] {
  return [...new Set([new URL(context).origin, new URL(address).origin])]
}

function textOf(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
}
