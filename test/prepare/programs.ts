import { existsSync, globSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { installWithApt, unpackWithApt } from './apt.ts'
import { FOLDER, hasName, NSS_WRAPPER } from './unpacked.ts'

/** A program that tests start, under any of its names. */
interface Program {
  readonly names: readonly string[]
  /** What serves as well where it cannot be installed. */
  readonly instead?: readonly string[]
  readonly paths?: readonly string[]
  /** The package of Debian that has it. */
  readonly debian: string
}

const PROGRAMS: readonly Program[] = [
  {
    // The shell draws the same pages with half of the work.
    names: ['chromium-headless-shell'],
    instead: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    paths: ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'],
    debian: 'chromium-headless-shell',
  },
  { names: ['curl'], debian: 'curl' },
  { names: ['fish'], debian: 'fish' },
  {
    names: ['initdb', 'postgresql'],
    paths: [18, 17, 16, 15].map((version) => `/usr/lib/postgresql/${version}/bin/initdb`),
    debian: 'postgresql',
  },
  // initdb refuses a user id without a name. This library invents one.
  ...(hasName() ? [] : [{ names: ['libnss-wrapper'], paths: globSync(NSS_WRAPPER), debian: 'libnss-wrapper' }]),
  { names: ['openssl'], debian: 'openssl' },
  { names: ['python3'], debian: 'python3' },
  { names: ['zsh'], debian: 'zsh' },
]

export interface Programs {
  /** One line about what was found and what was installed. */
  readonly line: string
  readonly missing: readonly string[]
  /** What tests need in their environment to find them. */
  readonly env: { readonly [name: string]: string }
}

/** Finds the programs that tests start. What is missing is installed, for all users or else in a folder of the repository. */
export function findPrograms(): Programs {
  const absent = PROGRAMS.filter((program) => find({ ...program, instead: [] }) === null)
  let how = ''
  if (absent.length > 0) {
    const packages = absent.map(({ debian }) => debian)
    if (installWithApt(packages)) how = `; installed ${packages.join(', ')} with apt-get`
    else if (unpackWithApt(packages, FOLDER)) how = `; unpacked ${packages.join(', ')} into .tmp/programs`
  }
  const found = PROGRAMS.flatMap((program) => find(program) ?? [])
  const missing = PROGRAMS.filter((program) => find(program) === null).map(({ debian }) => debian)
  return {
    line: `Tests use ${found.join(', ')}${how}.`,
    missing,
    env: {
      PATH: `${process.env.PATH}${delimiter}${join(FOLDER, 'bin')}`,
      ...(find(PROGRAMS[0]!) && { TILDE_BROWSER: find(PROGRAMS[0]!)! }),
    },
  }
}

function find({ names, instead = [], paths = [] }: Program): string | null {
  if (names.includes('chromium-headless-shell') && process.env.TILDE_BROWSER) return process.env.TILDE_BROWSER
  const folders = [...(process.env.PATH ?? '').split(delimiter), join(FOLDER, 'bin')]
  const places = [...[...names, ...instead].flatMap((name) => folders.map((folder) => join(folder, name))), ...paths]
  return places.find((path) => existsSync(path)) ?? null
}
