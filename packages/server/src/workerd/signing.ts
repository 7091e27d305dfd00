import { hkdfSync } from 'node:crypto'
import type { Seed } from '../host/proof/signer.ts'
import { type SigningKey, succeeding } from '../host/proof/signing-keys.ts'
import { SettingError } from '../host/settings/setting-error.ts'
import type { Settings } from '../host/settings/settings.ts'

type Given = Pick<Settings, 'signingKey' | 'retiredKeys' | 'secretKey' | 'rootKey'>

/** The secret of the service, from which the keys of its tenants follow. No other text is as hard to guess. */
export function secretOf({ secretKey, rootKey }: Pick<Settings, 'secretKey' | 'rootKey'>): string {
  const secret = secretKey ?? rootKey
  if (secret !== null) return secret
  throw new SettingError('Set TILDE_ROOT_KEY: secrets of tenants are encrypted with a key that follows from it.')
}

/** The key that signs on this host: the one that is set, or one that follows from the service's secret. */
export function seedOf(given: Given): Seed {
  return given.signingKey ?? new Uint8Array(hkdfSync('sha256', secretOf(given), '', 'tildebase signing', 32))
}

/** The public keys of this host, the one that signs first. */
export async function publicKeysOf(given: Given): Promise<SigningKey[]> {
  const current = { ...(await succeeding(null, seedOf(given), '')), from: null }
  const retired = given.retiredKeys.map((publicKey) => ({ publicKey, from: null, until: null, endorsement: null }))
  return [current, ...retired]
}
