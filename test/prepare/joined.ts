import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { bundle } from '../../build/bundle.ts'
import { publishedManifest } from '../../build/manifest.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const JOINED = join(ROOT, '.tmp', 'joined')
const DAY_MS = 86_400_000
/** The packages that the command loads. */
const PACKAGES = ['cli', 'client', 'nouns', 'server', 'tenant']
const OPTIONS = ['build/bundle.ts', 'build/manifest.ts', 'test/prepare/joined.ts']

/**
 * Joins the sources of the packages into few files, laid out as they are published, and returns the command there. It starts
 * with half of the CPU time, and tests start hundreds of them.
 */
export async function joinPackages(): Promise<string> {
  const folder = join(JOINED, hashOfSources())
  const scope = join('node_modules', '@tildebase')
  if (!existsSync(folder)) {
    const part = join(JOINED, `part-${process.pid}`)
    for (const name of PACKAGES) await joinPackage(join(ROOT, 'packages', name), join(part, scope, name))
    symlinkSync(join(ROOT, 'packages', 'console'), join(part, scope, 'console'))
    // Where npm puts the commands of installed packages.
    mkdirSync(join(part, 'node_modules', '.bin'))
    symlinkSync(join('..', '@tildebase', 'cli', 'bin', 'tilde.js'), join(part, 'node_modules', '.bin', 'tilde'))
    symlinkSync(join(ROOT, 'docs'), join(part, 'docs'))
    // Another run in this clone may still use what was joined before.
    for (const path of readdirSync(JOINED).map((name) => join(JOINED, name)))
      if (statSync(path).mtimeMs < Date.now() - DAY_MS) rmSync(path, { recursive: true })
    renameSync(part, folder)
  }
  return join(folder, scope, 'cli', 'bin', 'tilde.js')
}

async function joinPackage(from: string, to: string): Promise<void> {
  const manifest = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
  await bundle(from, to, manifest, 'src')
  mkdirSync(to, { recursive: true })
  writeFileSync(join(to, 'package.json'), JSON.stringify(publishedManifest(manifest, {})))
  // Node looks for the modules of a link where the link leads.
  if (existsSync(join(from, 'bin'))) cpSync(join(from, 'bin'), join(to, 'bin'), { recursive: true })
  if (existsSync(join(from, 'dist'))) symlinkSync(join(from, 'dist'), join(to, 'dist'))
}

/** One name for all that is joined, and for how. */
function hashOfSources(): string {
  const pattern = `packages/{${PACKAGES.join()}}/{package.json,bin/*,src/**/*.ts}`
  const hash = createHash('sha256')
  for (const file of [...globSync(pattern, { cwd: ROOT }).toSorted(), ...OPTIONS])
    hash.update(file).update(readFileSync(join(ROOT, file)))
  return hash.digest('hex').slice(0, 16)
}
