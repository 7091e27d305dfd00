import type { Reporter, TestModule, Vitest } from 'vitest/node'

/** How long a run may take to end after its last test. */
const FAREWELL_MS = 20_000

/** Ends a run with the names of what failed and one plain line: how many tests passed, failed and were skipped. */
export default class CountReporter implements Reporter {
  #isWatching = false

  onInit({ config }: Vitest): void {
    this.#isWatching = config.watch
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly Reason[]): void {
    const lines = [...modules.flatMap(failures), ...unhandled.map((reason) => line('outside of every test', reason))]
    process.stdout.write(`\n${[...lines, countLine(modules, lines.length)].join('\n')}\n`)
    // A program that a test left behind would keep the run from ending for as long as it lives.
    if (!this.#isWatching) setTimeout(() => process.exit(lines.length > 0 ? 1 : 0), FAREWELL_MS).unref()
  }
}

type Reason = { readonly message: string }

/**
 * One line for each failure, with the first line of its reason: a cut log still says all that is wrong.
 * A file or a suite that broke outside its tests counts as one, and so does a test that never came to an end.
 */
function failures(module: TestModule): readonly string[] {
  const name = module.relativeModuleId
  const parts = [module, ...module.children.allSuites()].filter((part) => part.errors().length > 0)
  const tests = [...module.children.allTests()].filter((test) => ['failed', 'pending'].includes(test.result().state))
  return [
    ...parts.map((part) => line(part.type === 'suite' ? `${name} > ${part.fullName}` : name, part.errors()[0])),
    ...tests.map((test) => line(`${name} > ${test.fullName}`, test.result().errors?.[0])),
  ]
}

function line(place: string, reason: Reason | undefined): string {
  return `failed: ${place}: ${reason?.message.split('\n')[0] ?? 'no reason given'}`
}

function countLine(modules: readonly TestModule[], failed: number): string {
  const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state))
  const count = (wanted: string) => states.filter((state) => state === wanted).length

  const skipped = count('skipped')
  return `${count('passed')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
