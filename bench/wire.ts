import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** What it costs to cross to a worker and back, one message at a time and gathered per tick. Run `node bench/wire.ts`. */
const ASK = {
  method: 'GET',
  host: 'localhost',
  path: '/~acme/Contact',
  headers: { authorization: 'x'.repeat(60), accept: '*/*' },
}
const ANSWER = { status: 200, headers: { 'content-type': 'application/json', etag: '"1"' }, body: 'x'.repeat(600) }

type Port = { postMessage(message: unknown): void }

if (isMainThread) {
  console.log('in flight  gathered  computing µs, both threads  time µs   (per round trip)')
  for (const width of [1, 8, 64]) for (const gathered of [false, true]) await measure(width, gathered)
} else {
  const send = senderTo(parentPort!, workerData)
  parentPort!.on('message', (batch: unknown[]) => {
    for (const _ of batch) send(ANSWER)
  })
}

async function measure(width: number, gathered: boolean): Promise<void> {
  const worker = new Worker(new URL(import.meta.url), { workerData: gathered })
  const send = senderTo(worker, gathered)
  const count = 10_000 * Math.min(width, 6)
  let [sent, received] = [0, 0]
  const next = () => sent++ < count && send(ASK)
  const done = new Promise<void>((resolve) => {
    worker.on('message', (batch: unknown[]) => {
      for (const _ of batch) if (++received < count) next()
      if (received === count) resolve()
    })
  })
  const [cpu, begun] = [process.cpuUsage(), performance.now()]
  for (let i = 0; i < width; i++) next()
  await done
  const { user, system } = process.cpuUsage(cpu)
  const time = ((performance.now() - begun) * 1_000) / count
  console.log(`${width}  ${gathered}  ${((user + system) / count).toFixed(1)}  ${time.toFixed(1)}`)
  await worker.terminate()
}

function senderTo(port: Port, gathered: boolean): (message: unknown) => void {
  if (!gathered) return (message) => port.postMessage([message])
  let batch: unknown[] = []
  return (message) => {
    if (batch.push(message) > 1) return
    setImmediate(() => {
      port.postMessage(batch)
      batch = []
    })
  }
}
