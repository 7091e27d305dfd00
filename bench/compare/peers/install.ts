import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { command } from '../process.ts'

/** Peers are installed outside the repository, once for all checkouts. */
const FOLDER = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'tildebase-peers')

/** The environment without the programs of this repository. */
export const MACHINE: NodeJS.ProcessEnv = {
  ...process.env,
  NODE_ENV: 'production',
  PATH: (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .join(delimiter),
}

/** The environment of a peer: the given version of Node runs it and builds its native parts. */
export async function environmentWith(node: string): Promise<NodeJS.ProcessEnv> {
  const folder = await installed(MACHINE, `node-linux-${process.arch}`, node)
  return { ...MACHINE, PATH: `${join(folder, 'bin')}${delimiter}${MACHINE.PATH}`, npm_config_nodedir: folder }
}

/** Installs a peer and what else it needs from npm into a folder for its version. Returns its folder in node_modules. */
export async function installed(
  env: NodeJS.ProcessEnv,
  name: string,
  version: string,
  ...others: string[]
): Promise<string> {
  const folder = join(FOLDER, `${name}-${version}`)
  const there = join(folder, 'node_modules', name)
  if (existsSync(join(there, 'package.json'))) return there
  mkdirSync(folder, { recursive: true })
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--no-save', `${name}@${version}`, ...others]
  await command('npm', args, { env })
  return there
}

/** The folder that holds the node_modules of an installed package, with or without a scope. */
export function projectOf(there: string): string {
  const parent = dirname(there)
  return dirname(parent.endsWith('node_modules') ? parent : dirname(parent))
}

/** Writes the files of a project into its folder. */
export function writeFiles(folder: string, files: { readonly [path: string]: string }): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}
