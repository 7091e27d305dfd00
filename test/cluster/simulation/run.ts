import { availableParallelism } from 'node:os'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { runHistories } from './histories.ts'
import type { Outcome } from './history.ts'

/** Histories that a thread takes at a time. */
const PART = 500

/** Runs histories of the protocol on all cores and reports the first that went wrong: `node run.ts COUNT [FIRST]`. */
async function main(): Promise<void> {
  const [count = 1_000, first = 1] = process.argv.slice(2).map(Number)
  const begun = performance.now()
  const totals: Record<string, number> = {}
  let next = first
  let fault: string | null = null
  const thread = async () => {
    const worker = new Worker(new URL(import.meta.url))
    while (next < first + count && fault === null) {
      const part = { first: next, count: Math.min(PART, first + count - next) }
      next += part.count
      const { fault: found, ...sums } = await ask(worker, part)
      fault ??= found
      for (const [name, sum] of Object.entries(sums)) totals[name] = (totals[name] ?? 0) + sum
    }
    await worker.terminate()
  }
  await Promise.all(Array.from({ length: availableParallelism() }, thread))
  if (fault !== null) {
    process.stderr.write(`${fault}\n`)
    process.exit(1)
  }
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1)
  process.stdout.write(`${count} histories in ${seconds} s: ${JSON.stringify(totals)}\n`)
}

interface Part {
  readonly first: number
  readonly count: number
}

function ask(worker: Worker, part: Part): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>()
  worker.removeAllListeners().once('message', resolve).once('error', reject)
  worker.postMessage(part)
  return promise
}

if (isMainThread) await main()
else
  parentPort!.on('message', async ({ first, count }: Part) => {
    parentPort!.postMessage(await runHistories(first, count))
  })
