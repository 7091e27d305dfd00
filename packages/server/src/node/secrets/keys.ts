import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomText } from '@tildebase/tenant/internal'
import { systemRandom, systemSeal } from '../../host/ports.ts'

/** The operator key: the configured one, the one in the data folder, or a new one that is stored there. */
export function operatorKey(
  data: string,
  set: string | null,
): { key: string; generated: boolean; path: string | null } {
  if (set !== null) return { key: set, generated: false, path: null }
  const path = join(data, 'root.key')
  return { ...keptKey(path, 'tbroot_'), path }
}

/** The key that secrets in tenants' files are encrypted with, found in the same way. Backups need it. */
export function secretKey(data: string, set: string | null): string {
  return set ?? keptKey(join(data, 'secret.key'), 'tbsecret_').key
}

function keptKey(path: string, prefix: string): { key: string; generated: boolean } {
  if (existsSync(path)) return { key: readFileSync(path, 'utf8').trim(), generated: false }
  const key = `${prefix}${randomText(systemRandom, 40)}`
  writeFileSync(path, `${key}\n`, { mode: 0o600, flag: 'wx' })
  return { key, generated: true }
}

/** Whether a secret is the operator's key, in a time that tells how long the key is and nothing more. */
export function operatorTest(key: string): (secret: string) => boolean {
  const digest = systemSeal.sha256(key)
  return (secret) => secret.length === key.length && systemSeal.equal(systemSeal.sha256(secret), digest)
}
