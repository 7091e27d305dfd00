import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { stageAll } from '../../build/stage.ts'

const REPOSITORY = join(import.meta.dirname, '..', '..')

/** Lays out the packages as they are published, beside what they depend on. Returns the file of the command. */
export async function layOutPublished(folder: string): Promise<string> {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: REPOSITORY, stdio: ['ignore', 'ignore', 'inherit'] })
  const modules = join(folder, 'node_modules')
  mkdirSync(modules, { recursive: true })
  await stageAll(join(modules, '@tildebase'))
  for (const name of readdirSync(join(REPOSITORY, 'node_modules'))) {
    if (name !== '@tildebase') symlinkSync(join(REPOSITORY, 'node_modules', name), join(modules, name))
  }
  return join(modules, '@tildebase', 'cli', 'bin', 'tilde.js')
}
