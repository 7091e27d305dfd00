// Makes the next version of the changesets: all manifests, the deployment files, CHANGELOG.md, and a data folder of it.
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withRelease } from './changelog.ts'
import { keepData } from './release-data.ts'

const REPOSITORY = join(import.meta.dirname, '..')
const at = (file: string) => join(REPOSITORY, file)

const texts = globSync('.changeset/*.md', { cwd: REPOSITORY })
  .filter((file) => !file.endsWith('README.md'))
  .map((file) =>
    readFileSync(at(file), 'utf8')
      .replace(/^---\n[\s\S]*?\n---\n/, '')
      .trim(),
  )
execFileSync(process.execPath, [at('test/node_modules/@changesets/cli/bin.js'), 'version'], {
  cwd: REPOSITORY,
  stdio: 'inherit',
})
const { version } = JSON.parse(readFileSync(at('packages/tildebase/package.json'), 'utf8'))

edit('package.json', (text) => text.replace(/"version": "[^"]+"/, `"version": "${version}"`))
edit('CHANGELOG.md', (text) => withRelease(text, version, new Date().toISOString().slice(0, 10), texts))
for (const file of ['deploy/compose.yaml', 'deploy/kubernetes/tildebase.yaml']) {
  edit(file, (text) => text.replace(/(image: tildebase:)\S+/g, `$1${version}`))
}
execFileSync('npm', ['install', '--package-lock-only', '--ignore-scripts'], { cwd: REPOSITORY, stdio: 'inherit' })
await keepData(version)
console.log(`Prepared ${version}.`)

function edit(file: string, change: (text: string) => string): void {
  writeFileSync(at(file), change(readFileSync(at(file), 'utf8')))
}
