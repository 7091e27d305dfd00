import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')

test('tests of programs that are not installed are skipped, and each says which it lacks', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-programs-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const name of ['bash', 'cat']) symlinkSync(join('/bin', name), join(folder, name))
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
  const files = ['test/cli/terminal.test.ts', 'packages/server/src/node/outbound/outbound.test.ts']

  const { stdout } = spawnSync(process.execPath, [vitest, 'run', '--reporter=verbose', ...files], {
    cwd: ROOT,
    env: { ...process.env, PATH: folder, NO_COLOR: '1' },
    encoding: 'utf8',
  })

  for (const program of ['script', 'fish', 'zsh', 'openssl']) expect(stdout).toContain(`: ${program} is not installed`)
  expect(stdout).toMatch(/✓ .*bash completes/)
  expect(stdout).not.toMatch(/×|❯|FAIL/)
})
