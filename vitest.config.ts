import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
import { SLOW } from './test/prepare/lanes.ts'
import { LongestFirst } from './test/prepare/sequencer.ts'

/** The code of these packages runs in Node as it is: through Vite it takes a fifth more CPU time. The console needs Vite. */
const NATIVE = /\/packages\/(?:cli|client|nouns|server|tenant)\/src\/(?!.*\.test\.ts$)/

const isNamed = process.argv.slice(2).some((word) => /^(?:test|packages)\//.test(word))

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: isNamed ? configDefaults.exclude : [...configDefaults.exclude, ...SLOW],
    reporters: ['default', './test/reporter.ts'],
    // Many tests wait for a browser, a process or a time: more of them than there are cores run at once.
    maxWorkers: availableParallelism() + 3,
    // Files share the modules of their process: importing them for each file took a quarter of the time.
    isolate: false,
    execArgv: process.env.TILDE_COMMAND ? [`--import=${new URL('test/prepare/threads.ts', import.meta.url)}`] : [],
    sequence: { sequencer: LongestFirst },
    server: { deps: { external: [NATIVE] } },
    // What is waited for may take long on a busy machine.
    expect: { poll: { timeout: 30_000 } },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
