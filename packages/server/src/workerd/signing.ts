import { hkdfSync } from 'node:crypto'
import type { Seed } from '../host/proof/signer.ts'
import { type SigningKey, succeeding } from '../host/proof/signing-keys.ts'
import type { Settings } from '../host/settings/settings.ts'

type Given = Pick<Settings, 'signingKey' | 'retiredKeys' | 'secretKey' | 'rootKey'>

/** The key that signs on this host: the one that is set, or one that follows from the service's secret. */
export function seedOf({ signingKey, secretKey, rootKey }: Given): Seed | null {
  const secret = secretKey ?? rootKey
  if (signingKey !== null || secret === null) return signingKey
  return new Uint8Array(hkdfSync('sha256', secret, '', 'tildebase signing', 32))
}

/** The public keys of this host, the one that signs first. */
export async function publicKeysOf(given: Given): Promise<SigningKey[]> {
  const seed = seedOf(given)
  const current = seed === null ? [] : [{ ...(await succeeding(null, seed, '')), from: null }]
  const retired = given.retiredKeys.map((publicKey) => ({ publicKey, from: null, until: null, endorsement: null }))
  return [...current, ...retired]
}
