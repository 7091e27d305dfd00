import { fromBase64, parseVerifierKey, type VerifierKey } from '@tildebase/nouns'
import { systemSeal } from '../ports.ts'
import type { Seed } from '../proof/signer.ts'
import { SettingError } from './setting-error.ts'

/** A witness that cosigns the checkpoints of this service. */
export interface WitnessSetting {
  readonly key: VerifierKey
  readonly url: string
}

/** A service whose logs this one cosigns. */
export interface WitnessedService {
  /** What its origins start with, before `/~`. */
  readonly host: string
  readonly publicKey: Uint8Array<ArrayBuffer>
}

/** How checkpoints are signed and cosigned. */
export interface ProofSettings {
  /** The private key that signs; null means a key that is kept in the data folder. */
  readonly signingKey: Seed | null
  /** Public keys that signed before, as base64 text. */
  readonly retiredKeys: readonly string[]
  readonly witnesses: readonly WitnessSetting[]
  /** The services that this one is a witness for. */
  readonly witnessedServices: readonly WitnessedService[]
}

const KEY_LENGTH = 32

export function readProofSettings(env: { readonly [name: string]: string | undefined }): ProofSettings {
  const signingKey = env.TILDE_SIGNING_KEY ? keyBytes('TILDE_SIGNING_KEY', env.TILDE_SIGNING_KEY) : null
  const retiredKeys = list(env.TILDE_SIGNING_KEYS_RETIRED)
  for (const key of retiredKeys) keyBytes('TILDE_SIGNING_KEYS_RETIRED', key)
  return {
    signingKey,
    retiredKeys,
    witnesses: list(env.TILDE_WITNESSES).map(witness),
    witnessedServices: list(env.TILDE_WITNESS_FOR).map(witnessed),
  }
}

/** `NAME+ID+KEY URL`. */
function witness(text: string): WitnessSetting {
  const [key = '', url = '', ...more] = text.split(/\s+/)
  const parsed = parseVerifierKey(systemSeal.sha256, key)
  if (parsed?.use === 'cosignature' && URL.canParse(url) && /^https?:/.test(url) && more.length === 0)
    return { key: parsed, url: url.replace(/\/+$/, '') }
  throw new SettingError(
    `TILDE_WITNESSES must be a key and a URL, such as NAME+ID+KEY https://witness.example/witness, several with commas, not ${text}.`,
  )
}

/** `HOST KEY`. */
function witnessed(text: string): WitnessedService {
  const [host = '', key = '', ...more] = text.split(/\s+/)
  if (host === '' || key === '' || more.length > 0) {
    throw new SettingError(`TILDE_WITNESS_FOR must be a host and its public key, several with commas, not ${text}.`)
  }
  return { host: host.toLowerCase(), publicKey: keyBytes('TILDE_WITNESS_FOR', key) }
}

function keyBytes(name: string, text: string): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64(text)
  if (bytes?.length === KEY_LENGTH) return bytes
  throw new SettingError(
    `${name} needs ${KEY_LENGTH} bytes as base64. Create a private key with: openssl rand -base64 32`,
  )
}

function list(text = ''): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
}
