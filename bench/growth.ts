import type { Operation } from './compare/contender.ts'
import { load, tildebase } from './compare/tildebase.ts'
import { demandTools, WRK } from './compare/tools.ts'
import { fire, type Reading } from './compare/wrk.ts'

/** How the cost of a request grows with the number of entities in a tenant. Run it with `npm run bench -- growth [most]`. */
const MOST = Number(process.argv[2] ?? 1_000_000)
const ROUNDS = 5
const SECONDS = 2
const CONNECTIONS = 64
const WATCHED: readonly Operation[] = ['get', 'list', 'asOf', 'create', 'update']

demandTools(WRK)
const sizes = [1_000, 10_000, 100_000, 1_000_000].filter((size) => size <= MOST)
const running = await tildebase(0).start(sizes[0]!)
try {
  console.log(
    `Node ${process.version}; µs of computing per request and requests per second, medians of ${ROUNDS} rounds`,
  )
  console.log(['entities', ...WATCHED].map((cell) => cell.padStart(16)).join(' '))
  let loaded = sizes[0]!
  for (const size of sizes) {
    await load(running.url, loaded, size)
    loaded = size
    const cells = await measure()
    console.log([String(size), ...cells].map((cell) => cell.padStart(16)).join(' '))
  }
} finally {
  await running.stop()
}

/** Reads come first, and only once the words of what was loaded are in the index: else they would pay for it. */
async function measure(): Promise<string[]> {
  await fire(running, running.shots.text!, 1, 1)
  const cells: string[] = []
  for (const operation of WATCHED) {
    const readings: Reading[] = []
    for (let round = -1; round < ROUNDS; round++) {
      const reading = await fire(running, running.shots[operation]!, SECONDS, CONNECTIONS)
      if (reading.errors > 0) throw new Error(`${operation}: ${reading.errors} errors`)
      if (round >= 0) readings.push(reading)
    }
    const cpu = median(readings.map((reading) => reading.cpuPerRequest)) * 1_000
    cells.push(`${cpu.toFixed(0)} µs ${median(readings.map((reading) => reading.perSecond)).toFixed(0)}/s`)
  }
  return cells
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
