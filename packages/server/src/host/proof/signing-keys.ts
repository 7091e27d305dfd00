import { toBase64 } from '@tildebase/nouns'
import type { HttpRequest, HttpResponse } from '../../doors/http.ts'
import { json, render } from '../../doors/reply.ts'
import { demandReading } from '../pages.ts'
import { publicKeyOf, type Seed, signWith } from './signer.ts'

/** A key that signs checkpoints, or did so. Bytes are base64, times ISO 8601. */
export interface SigningKey {
  readonly publicKey: string
  /** When it began to sign; null when that is not known. */
  readonly from: string | null
  /** When it signed last; null while it is in use. */
  readonly until: string | null
  /** The signature of the key before it, over this one: who trusts that key can trust this one. */
  readonly endorsement: string | null
}

/** The path under which the public keys of a service are found. */
export const KEYS_PATH = '.well-known/tilde-keys'

/** The text that an old key signs to name the one that follows it. */
function endorsedText(publicKey: string, from: string): string {
  return `tilde-key/v1\n${publicKey}\n${from}\n`
}

/** A key that takes the place of another, endorsed by it. */
export async function succeeding(before: Seed | null, seed: Seed, from: string): Promise<SigningKey> {
  const publicKey = toBase64(await publicKeyOf(seed))
  const endorsement = before && toBase64((await signWith(before, endorsedText(publicKey, from))).signature)
  return { publicKey, from, until: null, endorsement }
}

/** The public keys, newest first: `{keys: [{publicKey, algorithm, from, until, endorsement}]}`. */
export function keysPage({ method }: HttpRequest, keys: readonly SigningKey[], witness: string | null): HttpResponse {
  demandReading(method)
  const shown = keys.map(({ publicKey, ...rest }) => ({ publicKey, algorithm: 'Ed25519', ...rest }))
  return render(json(200, { keys: shown, witness }, { 'cache-control': 'no-cache' }))
}
