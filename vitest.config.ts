import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'

/** Tests that pack, install, build, kill or measure for minutes. They run when they are named: `npm run test:slow`. */
const SLOW = [
  'test/packages/**',
  'test/site.test.ts',
  'test/cluster/short/{moves,scenarios}.test.ts',
  'test/bulk/memory.test.ts',
  'test/console/looks.browser.test.ts',
  'test/fairness/whole-files.test.ts',
  'test/faults/{disk,restarts}.test.ts',
  'test/hosts/miniflare.test.ts',
  'test/proof/kill.test.ts',
]
const isNamed = process.argv.slice(2).some((word) => /^(?:test|packages)\//.test(word))

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: isNamed ? configDefaults.exclude : [...configDefaults.exclude, ...SLOW],
    reporters: ['default', './test/reporter.ts'],
    // Many tests wait for a browser, a process or a time: more of them than there are cores run at once.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
