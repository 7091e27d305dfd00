import { tildebase } from './compare/tildebase.ts'
import { fire, type Reading } from './compare/wrk.ts'

/**
 * What worker threads cost or bring for one tenant: the same operations with none, one and two of them, in turns.
 * Run it with `node bench/threads.ts [rounds] [seconds]`; needs wrk.
 */
const ROUNDS = Number(process.argv[2] ?? 5)
const SECONDS = Number(process.argv[3] ?? 4)
const ROWS = 10_000
const CONNECTIONS = 32
const OPERATIONS = ['create', 'get', 'list'] as const

const running = await Promise.all([0, 1, 2].map((workers) => tildebase(workers).start(ROWS)))
const readings = new Map<string, Reading[]>()
try {
  for (let round = 0; round < ROUNDS; round++) {
    for (const operation of OPERATIONS) {
      for (const [workers, one] of running.entries()) {
        const name = `${operation} ${workers}`
        const reading = await fire(one, one.shots[operation]!, SECONDS, CONNECTIONS)
        readings.set(name, [...(readings.get(name) ?? []), reading])
      }
    }
  }
} finally {
  await Promise.all(running.map((one) => one.stop()))
}

console.log('operation  workers  requests/s  p50 ms  p99 ms  computing ms/request   (medians of the rounds)')
for (const operation of OPERATIONS) {
  for (const workers of running.keys()) {
    const of = (value: (reading: Reading) => number) => median(readings.get(`${operation} ${workers}`)!.map(value))
    const columns = [of((r) => r.perSecond).toFixed(0), of((r) => r.p50).toFixed(1), of((r) => r.p99).toFixed(1)]
    const cost = of((r) => r.cpuPerRequest).toFixed(3)
    console.log(
      [operation.padEnd(9), String(workers).padEnd(7), ...columns.map((text) => text.padStart(8)), cost].join('  '),
    )
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
