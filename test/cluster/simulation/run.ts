import { runHistories } from './histories.ts'

/** Runs histories of the protocol and reports the first that went wrong: `node run.ts COUNT [FIRST]`. */
const [count = '1000', first = '1'] = process.argv.slice(2)
const begun = performance.now()
const { fault, ...totals } = await runHistories(Number(first), Number(count))
if (fault !== null) {
  process.stderr.write(`${fault}\n`)
  process.exit(1)
}
const seconds = ((performance.now() - begun) / 1_000).toFixed(1)
process.stdout.write(`${count} histories in ${seconds} s: ${JSON.stringify(totals)}\n`)
