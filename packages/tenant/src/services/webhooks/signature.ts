import type { Random, Seal } from '../../ports.ts'
import type { Receiver } from '../../store/outgoing/receivers.ts'
import { hex } from './trace.ts'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** A new signing secret, in the form of the Standard Webhooks. */
export function newSecret(random: Random): string {
  return `${PREFIX}${base64(random.bytes(SECRET_BYTES))}`
}

/** The error of a secret from a client, or null. */
export function secretFault(secret: unknown): string | null {
  if (typeof secret !== 'string' || secret === '' || secret.length > 256)
    return 'must be a string of 1 to 256 characters'
  if (!secret.startsWith(PREFIX) || bytesOf(secret.slice(PREFIX.length))) return null
  return 'starts with whsec_ but does not continue with base64'
}

/** Whether a secret is `whsec_` and the base64 of 24 to 64 bytes, as the Standard Webhooks have it. */
export function isStandardSecret(secret: unknown): secret is string {
  if (typeof secret !== 'string' || secret.length > 256 || !secret.startsWith(PREFIX)) return false
  const length = bytesOf(secret.slice(PREFIX.length))?.length ?? 0
  return length >= 24 && length <= 64
}

/** What signs with a secret that is not rotated. */
export function signerWith(secret: string): Signer {
  return { secret, key: keyOf(secret), old: null }
}

/** What a webhook's deliveries are signed with. */
export interface Signer extends Pick<Receiver, 'secret' | 'old'> {
  readonly key: Uint8Array
}

/** The headers that prove where a delivery comes from. During a rotation's overlap the old secret signs alongside. */
export function signatures(
  seal: Seal,
  { secret, key, old }: Signer,
  id: string,
  body: string,
  now: number,
): { [name: string]: string } {
  const seconds = String(Math.floor(now / 1_000))
  const keys = old && old.until > now ? [key, keyOf(old.secret)] : [key]
  const standard = keys.map((one) => `v1,${base64(seal.hmacSha256(one, `${id}.${seconds}.${body}`))}`)
  return {
    'x-service-signature': `sha256=${hex(seal.hmacSha256(secret, body))}`,
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': standard.join(' '),
  }
}

/** The bytes that a secret signs with: those behind `whsec_`; of any other one its UTF-8 bytes. */
export function keyOf(secret: string): Uint8Array {
  return (secret.startsWith(PREFIX) && bytesOf(secret.slice(PREFIX.length))) || new TextEncoder().encode(secret)
}

function bytesOf(text: string): Uint8Array | null {
  if (!/^[A-Za-z0-9+/]{2,}={0,2}$/.test(text)) return null
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}
