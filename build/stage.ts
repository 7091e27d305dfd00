import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { bundle } from './bundle.ts'
import { type Manifest, publishedManifest } from './manifest.ts'

const REPOSITORY = join(import.meta.dirname, '..')

/** Folders that are published as they are. */
const FOLDERS = ['bin', 'dist']
/** The others are made for browsers too: the bundlers of their users leave out the modules that are not needed. */
const BUNDLED = ['cli', 'server', 'tenant']
const TEST = /\.(?:test|contract|nests)\.ts$/

/** Lays out every public package in a folder, ready to be packed. Run `tsc -b` and the build of the console first. */
export async function stageAll(folder = join(REPOSITORY, 'dist')): Promise<string[]> {
  const packages = join(REPOSITORY, 'packages')
  const names = readdirSync(packages).filter((name) => existsSync(join(packages, name, 'package.json')))
  return Promise.all(names.map((name) => stage(join(packages, name), join(folder, name))))
}

async function stage(from: string, to: string): Promise<string> {
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to, { recursive: true })
  const manifest = json(join(from, 'package.json'))
  const files = [...FOLDERS.filter((folder) => existsSync(join(from, folder)))]
  for (const folder of files) cpSync(join(from, folder), join(to, folder), { recursive: true })
  if (basename(from) === 'tildebase') {
    cpSync(join(REPOSITORY, 'deploy', 'systemd'), join(to, 'systemd'), { recursive: true })
    files.push('systemd')
  }
  if (hasSources(manifest)) files.push(...(await stageSources(from, to, manifest)))
  cpSync(join(from, 'README.md'), join(to, 'README.md'))
  cpSync(join(REPOSITORY, 'LICENSE'), join(to, 'LICENSE'))
  write(
    join(to, 'package.json'),
    `${JSON.stringify(publishedManifest(manifest, sharedFields(from, files)), null, 2)}\n`,
  )
  return to
}

/** The sources and what was built of them. Declarations and maps point to the sources, so both are published. */
async function stageSources(from: string, to: string, manifest: Manifest): Promise<string[]> {
  const isBundled = BUNDLED.includes(basename(from))
  if (isBundled) await bundle(from, to, manifest)
  for (const file of filesIn(join(from, 'src')).filter((file) => !TEST.test(file))) {
    cpSync(join(from, 'src', file), join(to, 'src', file))
    if (!file.endsWith('.ts')) continue
    if (file.endsWith('.d.ts')) {
      cpSync(join(from, 'src', file), join(to, 'lib', file))
      continue
    }
    const stem = file.slice(0, -'.ts'.length)
    for (const ending of ['.d.ts.map', ...(isBundled ? [] : ['.js', '.js.map'])]) {
      cpSync(join(from, 'lib', stem + ending), join(to, 'lib', stem + ending))
    }
    // The compiler leaves the endings in declarations as they are in the sources.
    const declaration = readFileSync(join(from, 'lib', `${stem}.d.ts`), 'utf8')
    write(join(to, 'lib', `${stem}.d.ts`), declaration.replace(/(["'])(\.\.?\/[^"']+)\.ts\1/g, '$1$2.js$1'))
  }
  return ['lib', 'src']
}

function hasSources({ exports = {}, imports = {} }: Manifest): boolean {
  return [...Object.values(exports), ...Object.values(imports)].some((target) => String(target).startsWith('./src/'))
}

/** What all packages have in common is written once, in the manifest of the repository. */
function sharedFields(from: string, files: readonly string[]): object {
  const { license, author, homepage, bugs, repository } = json(join(REPOSITORY, 'package.json'))
  const directory = relative(REPOSITORY, from)
  return {
    license,
    author,
    homepage,
    bugs,
    repository: { ...(repository as object), directory },
    files,
    publishConfig: { access: 'public' },
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
}

function json(file: string): Manifest {
  return JSON.parse(readFileSync(file, 'utf8'))
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

if (import.meta.main) for (const folder of await stageAll()) console.log(relative(REPOSITORY, folder))
