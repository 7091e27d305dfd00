// Lays out the files of the container image: node deploy/image.ts FOLDER. Run "npm run build" first.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const REPOSITORY = join(import.meta.dirname, '..')
/** The user of the image, which distroless calls nonroot. */
const USER = 65_532

/** The packages with what they depend on in `app`, a data folder that the user of the image owns, and a place for it. */
export function layOutImage(folder: string, packages = join(REPOSITORY, 'dist')): void {
  const app = join(folder, 'app')
  for (const place of ['app', 'data', 'tmp']) mkdirSync(join(folder, place), { recursive: true })
  writeFileSync(join(app, 'package.json'), '{"private":true,"type":"module"}\n')
  const packed = mkdtempSync(join(tmpdir(), 'tildebase-image-'))
  const staged = readdirSync(packages).map((name) => join(packages, name))
  npm(app, 'pack', '--silent', '--pack-destination', packed, ...staged)
  const tarballs = readdirSync(packed).map((file) => join(packed, file))
  npm(app, 'install', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error', '--no-package-lock', ...tarballs)
  rmSync(packed, { recursive: true })
  // The manifest names tarballs that are gone.
  writeFileSync(join(app, 'package.json'), '{"private":true,"type":"module"}\n')
  cpSync(join(import.meta.dirname, 'healthcheck.js'), join(app, 'healthcheck.js'))
  if (process.getuid?.() === 0) execFileSync('chown', [`${USER}:${USER}`, join(folder, 'data')])
}

function npm(cwd: string, ...args: string[]): void {
  execFileSync('npm', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' })
}

if (import.meta.main) layOutImage(process.argv[2] ?? join(REPOSITORY, '.tmp', 'image'))
