import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'tildebase-layers-'))

for (const file of globSync(['biome.json', '.biome/*', 'package.json', 'packages/*/package.json'], { cwd: ROOT })) {
  cpSync(join(ROOT, file), join(folder, file))
}

afterAll(() => rmSync(folder, { recursive: true }))

type Case = readonly [file: string, code: string]

const REFUSED: readonly Case[] = [
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
]

const ALLOWED: readonly Case[] = [
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
]

/** The cases with an error. */
let faulty: ReadonlySet<Case>
beforeAll(() => {
  faulty = lint([...REFUSED, ...ALLOWED])
})

test.each(REFUSED.map((one) => [...one, one] as const))('the linter refuses in %s: %s', (_file, _code, one) => {
  expect(faulty.has(one)).toBe(true)
})

test.each(ALLOWED.map((one) => [...one, one] as const))('the linter allows in %s: %s', (_file, _code, one) => {
  expect(faulty.has(one)).toBe(false)
})

/** The cases in which the linter finds an error. One run reads all of them, each in a file of its own. */
function lint(cases: readonly Case[]): ReadonlySet<Case> {
  const files = new Map(cases.map((one, i) => [join('packages', one[0].replace('/a.', `/a${i}.`)), one]))
  for (const [file, [, code]] of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), `${code}\n`)
  }
  const biome = join(ROOT, 'node_modules', '@biomejs', 'biome', 'bin', 'biome')
  const args = ['lint', '--vcs-enabled=false', '--reporter=json', '--max-diagnostics=none', 'packages']
  const { stdout } = spawnSync(process.execPath, [biome, ...args], { cwd: folder, encoding: 'utf8' })
  const { summary, diagnostics } = JSON.parse(stdout)
  expect(summary).toMatchObject({ errors: diagnostics.length, diagnosticsNotPrinted: 0 })
  return new Set(diagnostics.map(({ location }: { location: { path: string } }) => files.get(location.path)))
}
