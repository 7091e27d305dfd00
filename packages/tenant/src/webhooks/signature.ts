import type { Random, Seal } from '../ports.ts'
import type { Receiver } from '../store/receivers.ts'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** A new signing secret, in the form of the Standard Webhooks. */
export function newSecret(random: Random): string {
  return `${PREFIX}${base64(random.bytes(SECRET_BYTES))}`
}

/** What is wrong with a secret that somebody brings, or null. */
export function secretFault(secret: unknown): string | null {
  if (typeof secret !== 'string' || secret === '' || secret.length > 256) return 'is a text of 1 to 256 characters'
  if (!secret.startsWith(PREFIX) || bytesOf(secret.slice(PREFIX.length))) return null
  return 'starts with whsec_ and goes on with something that is not base64'
}

/** The headers that prove where a delivery comes from. During a rotation's overlap the old secret signs alongside. */
export function signatures(
  seal: Seal,
  receiver: Pick<Receiver, 'secret' | 'old'>,
  id: string,
  body: string,
  now: number,
): { [name: string]: string } {
  const seconds = String(Math.floor(now / 1_000))
  const secrets = [receiver.secret, ...(receiver.old && receiver.old.until > now ? [receiver.old.secret] : [])]
  const standard = secrets.map((secret) => `v1,${base64(seal.hmacSha256(keyOf(secret), `${id}.${seconds}.${body}`))}`)
  return {
    'x-service-signature': `sha256=${hex(seal.hmacSha256(receiver.secret, body))}`,
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': standard.join(' '),
  }
}

/** The bytes behind `whsec_`; of any other secret its UTF-8 bytes. */
function keyOf(secret: string): Uint8Array {
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

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
