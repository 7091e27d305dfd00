import type { Signature, Signer } from '@tildebase/tenant/ports'

const ED25519 = 'Ed25519'
/** What precedes the 32 bytes of a private key in PKCS #8. */
const PKCS8 = Uint8Array.of(
  0x30,
  0x2e,
  0x02,
  0x01,
  0x00,
  0x30,
  0x05,
  0x06,
  0x03,
  0x2b,
  0x65,
  0x70,
  0x04,
  0x22,
  0x04,
  0x20,
)

/** A private key, from which the public one follows. */
export type Seed = Uint8Array<ArrayBuffer>

/** Signs with a key that may change from one signature to the next. */
export function createSigner(seed: () => Seed): Signer {
  return { sign: (message) => signWith(seed(), message), verify: verifyEd25519 }
}

/** Signs a string with Ed25519. Web Crypto, because both hosts have it. */
export async function signWith(seed: Seed, message: string): Promise<Signature> {
  const key = await privateKey(seed)
  const signature = await crypto.subtle.sign(ED25519, key, new TextEncoder().encode(message))
  return { publicKey: await publicKeyOf(seed), signature: new Uint8Array(signature) }
}

export async function verifyEd25519(
  publicKey: Uint8Array<ArrayBuffer>,
  message: string,
  signature: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const key = await crypto.subtle.importKey('raw', publicKey, ED25519, false, ['verify']).catch(() => null)
  return key !== null && crypto.subtle.verify(ED25519, key, signature, new TextEncoder().encode(message))
}

/** The public key that belongs to a private one. */
export async function publicKeyOf(seed: Seed): Promise<Uint8Array<ArrayBuffer>> {
  const { x } = (await crypto.subtle.exportKey('jwk', await privateKey(seed))) as { x?: string }
  const base64 = x!.replace(/-/g, '+').replace(/_/g, '/')
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
}

function privateKey(seed: Seed): Promise<CryptoKey> {
  return crypto.subtle.importKey('pkcs8', Uint8Array.of(...PKCS8, ...seed), ED25519, true, ['sign'])
}
