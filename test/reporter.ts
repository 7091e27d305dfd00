import type { Reporter, TestModule } from 'vitest/node'

/** Ends a run with one plain line: how many tests passed, failed and were skipped. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    process.stdout.write(`\n${countLine(modules, unhandled)}\n`)
  }
}

/** A file or a suite that broke outside its tests, and an error that no test caught, each count as one failure. */
function countLine(modules: readonly TestModule[], unhandled: readonly unknown[]): string {
  const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state))
  const broken = modules
    .flatMap((module) => [module, ...module.children.allSuites()])
    .filter((part) => part.errors().length > 0)
  const count = (...wanted: string[]) => states.filter((state) => wanted.includes(state)).length

  const skipped = count('skipped')
  const failed = count('failed', 'pending') + broken.length + unhandled.length
  return `${count('passed')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
