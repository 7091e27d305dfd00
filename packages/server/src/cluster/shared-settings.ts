import { createHmac } from 'node:crypto'
import { SettingError } from '../host/settings/setting-error.ts'
import type { Settings } from '../host/settings/settings.ts'

/** What all nodes must have in common, as fingerprints: the log never sees a key. */
export function sharedSettings(settings: Settings): { readonly [name: string]: string } {
  const { rootKey, secretKey, signingKey, baseUrl, witnessedServices } = settings
  const missing = [
    rootKey === null && 'TILDE_ROOT_KEY',
    secretKey === null && 'TILDE_SECRET_KEY',
    signingKey === null && 'TILDE_SIGNING_KEY',
    baseUrl === null && 'TILDE_BASE_URL',
  ].filter((name) => name !== false)
  if (missing.length > 0)
    throw new SettingError(`A node of a cluster needs ${missing.join(', ')}: the same on every node.`)
  if (witnessedServices.length > 0)
    throw new SettingError('A cluster cannot be a witness: TILDE_WITNESS_FOR is for a single node.')
  const print = (value: string | Uint8Array) => createHmac('sha256', secretKey!).update(value).digest('base64url')
  return {
    TILDE_ROOT_KEY: print(rootKey!),
    TILDE_SECRET_KEY: print('secret'),
    TILDE_SIGNING_KEY: print(signingKey!),
    TILDE_BASE_URL: baseUrl!,
  }
}
