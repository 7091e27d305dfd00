import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '..', '..')

/** A file of the repository as text. */
export function source(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** The sources of the packages, without their tests, as one text each. */
export function sources(): string[] {
  return globSync(['packages/*/src/**/*.{ts,tsx}', 'packages/*/bin/*.js'], { cwd: ROOT })
    .filter((path) => !/\.test\.tsx?$/.test(path))
    .map(source)
}
