import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { installWithApt, unpackWithApt } from '../../test/prepare/apt.ts'
import { FOLDER } from '../../test/prepare/unpacked.ts'

/** A program that a bench needs, how to get it, and what it is for. */
interface Tool {
  readonly name: string
  readonly install: string
  readonly isThere: () => boolean
}

export const WRK: Tool = { name: 'wrk', install: 'apt-get install wrk', isThere: () => isInPath('wrk') }

export const POSTGRESQL: Tool = {
  name: 'PostgreSQL',
  install: 'apt-get install postgresql',
  isThere: () => existsSync('/usr/lib/postgresql'),
}

export const QEMU: Tool = {
  name: 'QEMU',
  install: 'apt-get install qemu-user',
  isThere: () => isInPath('qemu-x86_64'),
}

/** A sentence for each tool that is missing, with the command that installs it. */
export function missingTools(tools: readonly Tool[]): string[] {
  return tools
    .filter(({ isThere }) => !isThere())
    .map(({ name, install }) => `${name} is not installed. Install it: ${install}`)
}

/**
 * Installs tools that a bench cannot do without, for all users or else in a folder of the repository, as the tests do. Ends
 * the bench before anything is started when that is not possible.
 */
export function demandTools(...tools: readonly Tool[]): void {
  process.env.PATH = `${process.env.PATH}${delimiter}${join(FOLDER, 'bin')}`
  const packages = tools
    .filter(({ isThere }) => !isThere())
    .map(({ install }) => install.replace('apt-get install ', ''))
  if (packages.length > 0 && !installWithApt(packages)) unpackWithApt(packages, FOLDER)
  const missing = missingTools(tools)
  if (missing.length === 0) return
  for (const sentence of missing) console.error(sentence)
  process.exit(1)
}

function isInPath(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return folder !== ''
    } catch {
      return false
    }
  })
}
