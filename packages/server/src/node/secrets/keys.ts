import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Problem } from '@tildebase/nouns'
import { randomText } from '@tildebase/tenant/internal'
import { systemRandom, systemSeal } from '../../host/ports.ts'
import { syncPath } from '../sqlite/disk-sync.ts'

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
  if (existsSync(path)) return { key: storedKey(path), generated: false }
  const key = `${prefix}${randomText(systemRandom, 40)}`
  // What it encrypts is lost without it: it is on the disk, whole, before it is used.
  const fresh = `${path}.new`
  writeFileSync(fresh, `${key}\n`, { mode: 0o600 })
  syncPath(fresh)
  renameSync(fresh, path)
  syncPath(dirname(path))
  return { key, generated: true }
}

function storedKey(path: string): string {
  const key = readFileSync(path, 'utf8').trim()
  if (key === '') throw new Problem('unavailable', `The key in ${path} is lost. Restore the file from a backup.`)
  return key
}

/** Whether a secret is the operator's key, in a time that tells how long the key is and nothing more. */
export function operatorTest(key: string): (secret: string) => boolean {
  const digest = systemSeal.sha256(key)
  return (secret) => secret.length === key.length && systemSeal.equal(systemSeal.sha256(secret), digest)
}
