import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { downloadWithApt } from '../prepare/apt.ts'

export const ROOT_FOLDER = join(import.meta.dirname, '..', '..')
const FOLDER = join(ROOT_FOLDER, '.tmp', 'python')
/** Compiled modules: not beside the sources, and not compiled again for each program. */
const CACHE = join(FOLDER, 'compiled')
/** What the type checker knows of modules that have not changed. */
const TYPES = join(FOLDER, 'types')
const UNPACKED = join(FOLDER, 'root', 'usr', 'lib', 'python3', 'dist-packages')

/** What the client, its wheel and its type checker need, as Debian packages it. */
const PACKAGES = ['python3-httpx', 'python3-setuptools', 'python3-wheel', 'mypy']

const MODULES = ['httpx', 'setuptools', 'wheel', 'mypy']

/** The Python of the system, and where the modules are that tests need; or what is missing. */
export type Python = { readonly command: string; readonly path: string } | { readonly missing: string }

let found: Python | undefined

/** Finds Python and the modules, once. Missing ones are downloaded from Debian and unpacked, which needs no root. */
export function findPython(): Python {
  found ??= lookForPython()
  return found
}

function lookForPython(): Python {
  const command = ['/usr/bin/python3', 'python3'].find((name) => isNewEnough(name))
  if (command === undefined) return { missing: 'Python 3.11 or newer' }
  if (hasModules(command, '')) return { command, path: '' }
  if (!hasModules(command, UNPACKED)) downloadWithApt(PACKAGES, FOLDER)
  if (hasModules(command, UNPACKED)) return { command, path: UNPACKED }
  return { missing: `the modules ${MODULES.join(', ')}; on Debian: apt-get install ${PACKAGES.join(' ')}` }
}

/** Runs Python with these folders on its path; its output, or an error with it. */
export function runPython(
  python: Python,
  path: readonly string[],
  args: readonly string[],
  { cwd = ROOT_FOLDER, env: more = {} }: { readonly cwd?: string; readonly env?: { [name: string]: string } } = {},
): string {
  if ('missing' in python) throw new Error(`Missing: ${python.missing}.`)
  const own = { PYTHONPATH: [...path, python.path].join(':'), PYTHONPYCACHEPREFIX: CACHE, MYPY_CACHE_DIR: TYPES }
  const env = { ...process.env, ...more, ...own }
  const { status, stdout, stderr } = spawnSync(python.command, ['-W', 'ignore', ...args], {
    cwd,
    env,
    encoding: 'utf8',
    timeout: 240_000,
  })
  if (status !== 0) throw new Error(`python3 ${args.join(' ')}: exit ${status}\n${stdout}\n${stderr}`)
  return `${stdout}${stderr}`
}

/** The client in a new folder: its source, its wheel, and what an installation of the wheel consists of. */
export interface BuiltClient {
  readonly folder: string
  readonly source: string
  readonly wheels: string
  /** A folder for `PYTHONPATH`. */
  readonly installed: string
}

/** Builds the wheel from a copy of python/ and unpacks it, as pip would. The caller removes the folder. */
export function buildClient(python: Python): BuiltClient {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-python-'))
  const built = {
    folder,
    source: join(folder, 'source'),
    wheels: join(folder, 'wheels'),
    installed: join(folder, 'installed'),
  }
  cpSync(join(ROOT_FOLDER, 'python'), built.source, { recursive: true })
  runPython(python, [], ['-c', BUILD, built.wheels, built.installed], { cwd: built.source })
  return built
}

/** The backend of pyproject.toml, called as pip does. */
const BUILD = `
import os, sys, zipfile
from setuptools.build_meta import build_wheel
wheels, installed = sys.argv[1:]
os.makedirs(wheels)
zipfile.ZipFile(os.path.join(wheels, build_wheel(wheels))).extractall(installed)
`

function isNewEnough(command: string): boolean {
  return spawnSync(command, ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))']).status === 0
}

function hasModules(command: string, path: string): boolean {
  const env = { ...process.env, PYTHONPATH: path }
  return spawnSync(command, ['-c', `import ${MODULES.join(', ')}`], { env }).status === 0
}
