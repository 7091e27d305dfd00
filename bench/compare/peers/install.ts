import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { command } from '../process.ts'

const FOLDER = join(import.meta.dirname, '..', '..', '.peers')

/** Installs a peer from npm into a folder of its own, once, and gives its folder in node_modules. */
export async function installed(name: string, version: string): Promise<string> {
  const folder = join(FOLDER, name)
  const there = join(folder, 'node_modules', name)
  if (existsSync(join(there, 'package.json'))) return there
  mkdirSync(folder, { recursive: true })
  await command('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--no-save', `${name}@${version}`])
  return there
}
