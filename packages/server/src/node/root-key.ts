import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomText } from '@tildebase/tenant'
import { systemRandom, systemSeal } from './ports.ts'

/** The operator's key: the one that is set, the one kept in the data folder, or a new one that is kept there. */
export function operatorKey(
  data: string,
  set: string | null,
): { key: string; generated: boolean; path: string | null } {
  if (set !== null) return { key: set, generated: false, path: null }
  const path = join(data, 'root.key')
  if (existsSync(path)) return { key: readFileSync(path, 'utf8').trim(), generated: false, path }
  const key = `tbroot_${randomText(systemRandom, 40)}`
  writeFileSync(path, `${key}\n`, { mode: 0o600, flag: 'wx' })
  return { key, generated: true, path }
}

/** Whether a secret is the operator's key, in a time that tells how long the key is and nothing more. */
export function operatorTest(key: string): (secret: string) => boolean {
  const digest = systemSeal.sha256(key)
  return (secret) => secret.length === key.length && systemSeal.equal(systemSeal.sha256(secret), digest)
}
