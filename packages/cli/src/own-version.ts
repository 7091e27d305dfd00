import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The version of this command. */
export function ownVersion(): string {
  const manifest = fileURLToPath(import.meta.resolve('@tildebase/cli/package.json'))
  return JSON.parse(readFileSync(manifest, 'utf8')).version
}
