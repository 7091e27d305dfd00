import type { Reporter, TestModule } from 'vitest/node'

/** Ends a run with the names of what failed and one plain line: how many tests passed, failed and were skipped. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    process.stdout.write(`\n${[...failures(modules), countLine(modules, unhandled)].join('\n')}\n`)
  }
}

/** One line for each failure, with the first line of its reason: a cut log still says all that is wrong. */
function failures(modules: readonly TestModule[]): readonly string[] {
  return modules.flatMap((module) =>
    [...module.children.allTests('failed')].map((test) => {
      const reason = test.result().errors?.[0]?.message.split('\n')[0] ?? 'no reason given'
      return `failed: ${module.relativeModuleId} > ${test.fullName}: ${reason}`
    }),
  )
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
