// What "npm run docs:site" runs: installs what the site needs, and builds it into dist/site.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const HERE = import.meta.dirname
const PAGES = join(HERE, 'pages')
const STAMP = join(HERE, 'node_modules', '.installed')

/** Builds the site; an error when a page has a dead link. */
export function buildSite(): void {
  install()
  copyPages()
  run(process.execPath, join(HERE, 'node_modules', 'vitepress', 'bin', 'vitepress.js'), 'build', HERE)
}

/** Installs these very versions, unless they are there. */
function install(): void {
  const lock = createHash('sha256')
    .update(readFileSync(join(HERE, 'package-lock.json')))
    .digest('hex')
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === lock) return
  run('npm', 'ci', '--ignore-scripts', '--loglevel=error', '--no-audit', '--no-fund')
  writeFileSync(STAMP, lock)
}

/**
 * The pages next to the packages that they are compiled with, without the comments that mark generated parts. The README
 * of a folder becomes its index.
 */
function copyPages(): void {
  rmSync(PAGES, { recursive: true, force: true })
  cpSync(join(HERE, '..', 'docs'), PAGES, { recursive: true })
  for (const page of globSync('**/*.md', { cwd: PAGES })) {
    const file = join(PAGES, page)
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/<!--[\s\S]*?-->\n*/g, ''))
    if (page.endsWith('README.md')) renameSync(file, file.replace(/README\.md$/, 'index.md'))
  }
}

function run(command: string, ...args: readonly string[]): void {
  const options = { cwd: HERE, encoding: 'utf8', shell: process.platform === 'win32' } as const
  const { status, stdout, stderr } = spawnSync(command, args, options)
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed.\n${stdout}${stderr}`)
}

if (import.meta.main) {
  buildSite()
  console.log('The site is in dist/site.')
}
