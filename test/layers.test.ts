import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'tildebase-layers-'))

for (const file of globSync(['biome.json', '.biome/*', 'package.json', 'packages/*/package.json'], { cwd: ROOT })) {
  cpSync(join(ROOT, file), join(folder, file))
}

afterAll(() => rmSync(folder, { recursive: true }))

test.each([
  ['nouns/src/a.ts', "import 'node:fs'"],
  ['nouns/src/a.ts', "import 're2js'"],
  ['nouns/src/a.ts', "import '@tildebase/tenant'"],
  ['nouns/src/a.ts', "import '../../tenant/src/ports.ts'"],
  ['nouns/src/a.ts', 'export const now = Date.now()'],
  ['nouns/src/a.ts', 'export const now = new Date()'],
  ['tenant/src/a.ts', "import 'node:sqlite'"],
  ['tenant/src/a.ts', "import 'cloudflare:workers'"],
  ['tenant/src/a.ts', "import '@tildebase/server'"],
  ['tenant/src/store/a.ts', "import '../../../nouns/src/noun.ts'"],
  ['tenant/src/a.ts', 'export const chance = Math.random()'],
  ['tenant/src/a.ts', "export const page = fetch('https://example.com')"],
  ['tenant/src/a.ts', 'setTimeout(() => {}, 1)'],
  ['tenant/src/store/a.ts', "import '../query/plan.ts'"],
  ['tenant/src/query/a.ts', "import '../write/write.ts'"],
  ['tenant/src/write/a.ts', "import '../services/keys.ts'"],
  ['tenant/src/services/a.ts', "import '../facade/reader.ts'"],
  ['tenant/src/services/a.ts', "import 'node:sqlite'"],
  ['tenant/src/services/a.ts', "export const rows = (sql) => sql.rows('SELECT 1')"],
  ['tenant/src/facade/a.ts', "export const rows = (engine) => engine.sql.rows('SELECT 1')"],
  ['server/src/doors/rest/a.ts', "export const rows = (tenant) => tenant.sql.rows('SELECT 1')"],
  ['server/src/doors/a.ts', "import 'node:http'"],
  ['server/src/doors/rest/a.ts', "import '../../node/host.ts'"],
  ['server/src/doors/a.ts', "import '../host/log.ts'"],
  ['server/src/host/a.ts', "import '../node/log.ts'"],
  ['server/src/workerd/a.ts', "import '../node/log.ts'"],
  ['server/src/node/a.ts', "import '../cluster/cluster.ts'"],
  ['server/src/doors/a.ts', "import '@tildebase/client'"],
  ['server/src/node/a.ts', "import '@tildebase/client'"],
  ['server/src/node/a.ts', "import 'cloudflare:workers'"],
  ['client/src/a.ts', "import 'node:fs'"],
  ['client/src/a.ts', "import '@tildebase/tenant'"],
])('the linter refuses in %s: %s', (file, code) => {
  expect(lint(file, code)).not.toBe(0)
})

test.each([
  ['nouns/src/a.ts', "import './noun.ts'"],
  ['nouns/src/a.ts', 'export const past = new Date(0).toISOString()'],
  ['tenant/src/store/a.ts', "import '@tildebase/nouns'"],
  ['tenant/src/store/a.ts', "import 're2js'"],
  ['tenant/src/store/a.ts', "import '../ports.ts'"],
  ['tenant/src/store/a.ts', "export const rows = (sql) => sql.rows('SELECT 1')"],
  ['tenant/src/write/a.ts', "import '../query/plan.ts'"],
  ['tenant/src/store/a.test.ts', "import 'node:sqlite'"],
  ['server/src/doors/a.ts', "import '@tildebase/tenant'"],
  ['server/src/node/a.ts', "import 'node:http'"],
  ['server/src/workerd/a.ts', "import 'cloudflare:workers'"],
  ['client/src/a.ts', "import '@tildebase/nouns'"],
  ['cli/src/a.ts', "import 'node:fs'"],
])('the linter allows in %s: %s', (file, code) => {
  expect(lint(file, code)).toBe(0)
})

/** The exit code of the linter over `code` in a repository that holds nothing but `file`. */
function lint(file: string, code: string): number | null {
  const path = join(folder, 'packages', file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${code}\n`)
  const biome = join(ROOT, 'node_modules', '@biomejs', 'biome', 'bin', 'biome')
  const { status } = spawnSync(process.execPath, [biome, 'lint', '--vcs-enabled=false', path], { cwd: folder })
  rmSync(path)
  return status
}
