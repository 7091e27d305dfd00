import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withRelease } from '../../build/changelog.ts'

const REPOSITORY = join(import.meta.dirname, '..', '..')
const json = (file: string) => JSON.parse(readFileSync(join(REPOSITORY, file), 'utf8'))

describe('a release', () => {
  test('has one version for all packages, and they depend on each other in that version', () => {
    const { version } = json('package.json')
    for (const file of globSync('packages/*/package.json', { cwd: REPOSITORY })) {
      const manifest = json(file)
      const own = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }).filter(([name]) =>
        name.startsWith('@tildebase/'),
      )

      expect([manifest.name, manifest.version]).toEqual([manifest.name, version])
      expect(own.every(([, wanted]) => wanted === version)).toBe(true)
    }
  })

  test('is described in the changelog', () => {
    const changelog = readFileSync(join(REPOSITORY, 'CHANGELOG.md'), 'utf8')

    expect(changelog).toContain(`## [${json('package.json').version}]`)
  })

  test('takes what is unreleased and the texts of changesets, and leaves earlier releases alone', () => {
    const before = '# Changelog\n\n## [Unreleased]\n\n- One.\n\n## [0.1.0] - 2026-01-01\n\n- Zero.\n'

    expect(withRelease(before, '0.2.0', '2026-02-02', ['Two,\nover two lines.'])).toBe(
      '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-02-02\n\n- One.\n- Two,\n  over two lines.\n\n## [0.1.0] - 2026-01-01\n\n- Zero.\n',
    )
    expect(() => withRelease('# Changelog\n', '0.2.0', '2026-02-02', [])).toThrow('no section [Unreleased]')
  })
})

test.each(globSync('.github/workflows/*.yml', { cwd: REPOSITORY }))('%s is a valid workflow', (file) => {
  const validator = join(REPOSITORY, 'test/node_modules/@action-validator/cli/cli.mjs')

  expect(() => execFileSync(process.execPath, [validator, join(REPOSITORY, file)], { stdio: 'pipe' })).not.toThrow()
})
