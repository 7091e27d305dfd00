import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    reporters: ['default', './test/reporter.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
