import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readBlocks } from '../docs.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** Writes the files of a tutorial, ```ts file=src/main.ts, into a new folder of the repository. */
export function tutorialFiles(page: string): string {
  const base = join(ROOT, 'test', '.tmp')
  mkdirSync(base, { recursive: true })
  const folder = mkdtempSync(join(base, 'tutorial-'))
  for (const { marks, code } of readBlocks(page, readFileSync(join(ROOT, page), 'utf8'))) {
    const file = marks.find((mark) => mark.startsWith('file='))?.slice('file='.length)
    if (file === undefined) continue
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), code)
  }
  return folder
}

/** Runs a program in a folder; an error with its output when it fails. */
export function run(
  cwd: string,
  command: string,
  args: readonly string[],
  env: { [name: string]: string } = {},
): string {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    timeout: 500_000,
  })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: exit ${status}\n${stdout}\n${stderr}`)
  return stdout
}

/** Checks the types of the files in a folder, as strictly as the templates of the frameworks do. */
export function checkTypes(folder: string, options: object): void {
  const settings = {
    compilerOptions: {
      ...{ target: 'es2024', module: 'esnext', moduleResolution: 'bundler', strict: true, noEmit: true },
      ...{
        skipLibCheck: true,
        allowImportingTsExtensions: true,
        lib: ['es2024', 'esnext.iterator', 'dom', 'dom.iterable'],
      },
      ...options,
    },
    include: ['**/*.ts', '**/*.tsx'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
  run(folder, process.execPath, [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', folder])
}
