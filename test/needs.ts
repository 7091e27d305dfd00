import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Why tests that start these programs are skipped on this machine, as the end of their title; null when it has all of them. */
export function whyNot(...programs: readonly string[]): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const missing = programs.filter((name) => !folders.some((folder) => existsSync(join(folder, name))))
  return missing.length === 0 ? null : `: ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not installed`
}
