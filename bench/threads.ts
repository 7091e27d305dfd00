import { loadavg } from 'node:os'
import { tildebase } from './compare/tildebase.ts'
import { demandTools, WRK } from './compare/tools.ts'
import { fire, type Reading } from './compare/wrk.ts'

/**
 * What worker threads cost or bring for one tenant: the same operations with none, one and two of them, in turns.
 * Takes three minutes. Run it with `node bench/threads.ts [rounds] [seconds]`; needs wrk.
 */
const ROUNDS = Number(process.argv[2] ?? 5)
const SECONDS = Number(process.argv[3] ?? 3)
const ROWS = 10_000
const CONNECTIONS = 32
const OPERATIONS = ['create', 'get', 'list'] as const

demandTools(WRK)
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

console.log(`medians of ${ROUNDS} rounds of ${SECONDS} s; load ${loadavg()[0]!.toFixed(1)}; × is against no workers`)
console.log('operation  workers  requests/s     ×   p50 ms   p99 ms  computing ms/request     ×')
for (const operation of OPERATIONS) {
  for (const workers of running.keys()) {
    const of = (which: number, value: (reading: Reading) => number) =>
      median(readings.get(`${operation} ${which}`)!.map(value))
    const ratio = (value: (reading: Reading) => number) => (of(workers, value) / of(0, value)).toFixed(2).padStart(5)
    const speed = of(workers, ({ perSecond }) => perSecond)
    console.log(
      `${operation.padEnd(10)} ${String(workers).padEnd(7)}  ${speed.toFixed(0).padStart(10)} ${ratio((r) => r.perSecond)}` +
        `  ${of(workers, (r) => r.p50)
          .toFixed(1)
          .padStart(7)}  ${of(workers, (r) => r.p99)
          .toFixed(1)
          .padStart(7)}` +
        `  ${of(workers, (r) => r.cpuPerRequest)
          .toFixed(3)
          .padStart(20)} ${ratio((r) => r.cpuPerRequest)}`,
    )
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
