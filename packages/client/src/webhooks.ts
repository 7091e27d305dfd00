import { type EventOf, type NounMap, Problem } from '@tildebase/nouns'

/** A delivery as it arrived: a Request, or its headers and its body as it was sent, not parsed. */
export type Delivery =
  | Request
  | {
      readonly headers: Headers | { readonly [name: string]: string | readonly string[] | undefined }
      readonly body: string | Uint8Array
    }

export interface VerifyOptions {
  /** How old or early, in seconds, the time of a signature may be; 300 by default. */
  readonly tolerance?: number
  /** The time now, in milliseconds. */
  readonly now?: number
}

/**
 * The event of a delivery that was signed with the secret; a Problem `invalid_signature` for any other. With the types
 * of the tenant, `event.type` decides the type of `event.data`: `verifyWebhook<Types<typeof nouns>>(…)`.
 */
export async function verifyWebhook<C extends NounMap = NounMap>(
  delivery: Delivery,
  secret: string,
  options: VerifyOptions = {},
): Promise<EventOf<C, '*'>> {
  const header = headerReader(delivery)
  const body = await bodyOf(delivery)
  const standard = header('webhook-signature')
  const genuine =
    standard === null
      ? await isServiceSigned(header('x-service-signature'), body, secret)
      : await isStandardSigned(header, standard, body, secret, options)
  if (!genuine) throw refused('The signature of this delivery does not fit its body and the secret of the webhook.')
  return JSON.parse(new TextDecoder().decode(body))
}

/** `sha256=<hex>` over the body, keyed with the secret as text. */
async function isServiceSigned(signature: string | null, body: Bytes, secret: string): Promise<boolean> {
  if (signature === null) throw refused('This request has no signature: it is not a delivery of a webhook.')
  const hex = /^sha256=([0-9a-f]{64})$/.exec(signature)?.[1]
  if (hex === undefined) return false
  const bytes = Uint8Array.from(hex.match(/../g)!, (pair) => Number.parseInt(pair, 16))
  return isSigned(encode(secret), bytes, body)
}

/** `v1,<base64>` over id, time and body, once per secret that is valid. */
async function isStandardSigned(
  header: (name: string) => string | null,
  signatures: string,
  body: Bytes,
  secret: string,
  { tolerance = 300, now = Date.now() }: VerifyOptions,
): Promise<boolean> {
  const time = header('webhook-timestamp') ?? ''
  if (!(Math.abs(now / 1_000 - Number(time)) <= tolerance) || time === '') {
    throw refused('The signature of this delivery is too old or too early. Check the clock of this machine.')
  }
  const signed = join(encode(`${header('webhook-id') ?? ''}.${time}.`), body)
  const key = keyOf(secret)
  for (const entry of signatures.split(' ')) {
    const bytes = entry.startsWith('v1,') ? fromBase64(entry.slice(3)) : null
    if (bytes && (await isSigned(key, bytes, signed))) return true
  }
  return false
}

type Bytes = Uint8Array<ArrayBuffer>

/** WebCrypto compares in a time that does not tell where two signatures differ. */
async function isSigned(key: Bytes, signature: Bytes, data: Bytes): Promise<boolean> {
  const hmac = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
  return crypto.subtle.verify('HMAC', hmac, signature, data)
}

/** The bytes behind `whsec_`; of any other secret its text. */
function keyOf(secret: string): Bytes {
  return (secret.startsWith('whsec_') && fromBase64(secret.slice('whsec_'.length))) || encode(secret)
}

function fromBase64(text: string): Bytes | null {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
  } catch {
    return null
  }
}

function headerReader({ headers }: Delivery): (name: string) => string | null {
  if (headers instanceof Headers) return (name) => headers.get(name)
  const known = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return (name) => {
    const value = known.get(name)
    return value === undefined ? null : typeof value === 'string' ? value : value.join(',')
  }
}

async function bodyOf(delivery: Delivery): Promise<Bytes> {
  if (delivery instanceof Request) return new Uint8Array(await delivery.arrayBuffer())
  const { body } = delivery
  return typeof body === 'string' ? encode(body) : new Uint8Array(body)
}

function join(a: Bytes, b: Bytes): Bytes {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}

function encode(text: string): Bytes {
  return new TextEncoder().encode(text)
}

function refused(message: string): Problem {
  return new Problem('invalid_signature', message)
}
