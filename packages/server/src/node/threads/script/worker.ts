import { parentPort, workerData } from 'node:worker_threads'
import { Machine, type Outside } from '../../../host/script/machine.ts'
import type { FromWorker, ToWorker } from '../../../host/script/messages.ts'
import { giveWay } from '../priority.ts'
import { bench, isSound } from './bench.ts'
import { Interpreters, USUAL_BYTES } from './interpreters.ts'

const port = parentPort!
const tell = (message: FromWorker) => port.postMessage(message)
let machine: Machine | null = null
const interpreters = new Interpreters()

port.on('message', async (message: ToWorker) => {
  if (message.kind === 'reply') return machine?.reply(message.call, message.ok, message.text, message.excusedMs)
  const wasm = await interpreters.for(message.owner, message.memoryBytes)
  const outside: Outside = {
    call: (call, name, args) => tell({ kind: 'call', call, name, args }),
    // The interpreter is still on the stack when it reports its end: it is freed, and the end sent, afterwards.
    done: (outcome) =>
      setImmediate(() => {
        // What failed may have taken all of its memory, which never shrinks.
        const isReusable = isFreed() && outcome.error === undefined
        tell({ kind: 'done', outcome: isSound() ? outcome : { ...outcome, isBroken: true } })
        interpreters.ended(isReusable)
      }),
  }
  machine = new Machine(wasm, message, outside, bench)
  machine.start()
})

await warmUp()
giveWay(workerData)
tell({ kind: 'ready' })

/** Slow initialisation runs before the first code, so that no hook is delayed by it. */
async function warmUp(): Promise<void> {
  const most = Number.POSITIVE_INFINITY
  const limits = { timeMs: most, cpuMs: most, memoryBytes: USUAL_BYTES, operations: 1, resultLength: most }
  const code = 'let a: number = 1; await $.Warm.up(); [a]'
  const first = new Machine(
    await interpreters.for('', USUAL_BYTES),
    { kind: 'run', code, owner: '', values: '{}', ...limits },
    { call: () => {}, done: () => {} },
    bench,
  )
  first.start()
  first.reply(1, true, 'null')
  first.dispose()
  interpreters.ended(true)
}

/** Frees what the code has left. False when that cannot be freed. */
function isFreed(): boolean {
  try {
    machine?.dispose()
    return true
  } catch {
    return false
  } finally {
    machine = null
  }
}
