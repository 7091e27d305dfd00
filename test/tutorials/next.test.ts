import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run, tutorialFiles } from './files.ts'

const ROOT = join(import.meta.dirname, '..', '..')
let folder: string
beforeAll(() => {
  folder = tutorialFiles('docs/guides/nextjs.md')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

// Slow: it installs Next.js, and builds the packages first.
test('the tutorial for Next.js is built', { timeout: 900_000 }, () => {
  const layout = 'export default ({ children }: { children: any }) => <html lang="en"><body>{children}</body></html>\n'
  writeFileSync(join(folder, 'app', 'layout.tsx'), layout)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, name: 'deals' }))
  const packages = ['next', 'react', 'react-dom', 'typescript@5', '@types/react', '@types/node']
  run(folder, 'npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages])
  run(ROOT, 'npm', ['run', 'build'])
  for (const name of ['client', 'nouns'])
    cpSync(join(ROOT, 'dist', name), join(folder, 'node_modules', '@tildebase', name), { recursive: true })

  const said = run(folder, join(folder, 'node_modules', '.bin', 'next'), ['build'], { NEXT_TELEMETRY_DISABLED: '1' })

  expect(said).toContain('/hooks')
})
