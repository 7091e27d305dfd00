import { cpus, loadavg } from 'node:os'
import { type Contender, LEAST_ROWS, type Running, TENANTS } from '../compare/contender.ts'
import { directus } from '../compare/peers/directus.ts'
import { parse } from '../compare/peers/parse.ts'
import { payload } from '../compare/peers/payload.ts'
import { pocketbase } from '../compare/peers/pocketbase.ts'
import { strapi } from '../compare/peers/strapi.ts'
import { median } from '../compare/summary.ts'
import { demandTools, WRK } from '../compare/tools.ts'
import { fireMix, type Reading, WARM_UP, warmUp } from '../compare/wrk.ts'
import { manyTenants } from './tenants.ts'

/**
 * A mixed workload over 200 tenants: 80 % reads, 15 % updates, 5 % creates. Run it with
 * `npm run bench -- mixed [contender…]`. A quarter of the reads are lists of 25 of one tenant with their total. Products
 * without tenants have all rows in one table, with an indexed field for the tenant; reads by id do not check it.
 */
const ALL: { readonly [name: string]: Contender } = {
  node: manyTenants(0),
  worker: manyTenants(1),
  directus,
  strapi,
  payload,
  parse,
  pocketbase,
}
const ROWS = Number(process.env.BENCH_ROWS ?? 20_000)
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 5)
const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 32)

demandTools(WRK)
if (ROWS < LEAST_ROWS) throw new Error(`Lists need at least ${LEAST_ROWS} rows.`)
const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !Object.hasOwn(ALL, name))
if (unknown.length > 0) throw new Error(`There is no ${unknown.join(', ')}: name ${Object.keys(ALL).join(', ')}.`)

const machine = `${cpus().length} cores, Node ${process.version}, load ${loadavg()[0]!.toFixed(1)} before`
console.log(
  `${ROWS} rows, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s in turns after ${WARM_UP}; ${machine}`,
)
const running = new Map<string, Running>()
const readings = new Map<string, Reading[]>()
try {
  for (const [name, contender] of Object.entries(ALL)) {
    if (asked.length > 0 && !asked.includes(name)) continue
    const started = await contender.start(ROWS, TENANTS).catch((reason: Error) => reason)
    if (started instanceof Error) console.log(`${contender.name}: not compared. ${started.message}`)
    else {
      running.set(contender.name, started)
      console.log(`${contender.name}: ${contender.durability}`)
    }
  }
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, one] of running) {
      const { get, list, update, create } = one.shots
      const mix = [
        { shot: get!, share: 0.6 },
        { shot: list!, share: 0.2 },
        { shot: update!, share: 0.15 },
        { shot: create!, share: 0.05 },
      ]
      const reading = await (round < 0 ? warmUp(one, mix, CONNECTIONS) : fireMix(one, mix, SECONDS, CONNECTIONS)).catch(
        (reason: Error) => reason,
      )
      if (reading instanceof Error) console.log(`${name} failed: ${reading.message}`)
      else if (reading) readings.set(name, [...(readings.get(name) ?? []), reading])
    }
  }
} finally {
  for (const one of running.values()) await one.stop()
}
console.log('| | per second | p50 ms | p99 ms | CPU µs per request | MiB | errors |\n|---|---|---|---|---|---|---|')
for (const [name, list] of readings) {
  const middle = (pick: (reading: Reading) => number) => median(list.map(pick))
  const cells = [
    middle(({ perSecond }) => perSecond).toFixed(0),
    middle(({ p50 }) => p50).toFixed(1),
    middle(({ p99 }) => p99).toFixed(1),
    (middle(({ cpuPerRequest }) => cpuPerRequest) * 1_000).toFixed(0),
    (middle(({ rss }) => rss) / 2 ** 20).toFixed(0),
    list.reduce((sum, { errors }) => sum + errors, 0),
  ]
  console.log(`| ${name} | ${cells.join(' | ')} |`)
}
process.exit()
