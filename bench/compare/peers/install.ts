import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { command } from '../process.ts'

const FOLDER = join(import.meta.dirname, '..', '..', '.peers')

/** The surroundings of a peer: the machine's own Node before ours, since their native parts are built for older ones. */
export const PEER_ENV = {
  ...process.env,
  NODE_ENV: 'production',
  PATH: (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .join(delimiter),
}

/** Installs a peer from npm into its own folder, once, with what else it needs, and gives its folder in node_modules. */
export async function installed(name: string, version: string, ...others: string[]): Promise<string> {
  const folder = join(FOLDER, name)
  const there = join(folder, 'node_modules', name)
  if (existsSync(join(there, 'package.json'))) return there
  mkdirSync(folder, { recursive: true })
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--no-save', `${name}@${version}`, ...others]
  await command('npm', args, { env: PEER_ENV })
  return there
}

/** The Node that peers run on, for the record. */
export function peerNode(): string {
  return execFileSync('node', ['--version'], { env: PEER_ENV }).toString().trim()
}
