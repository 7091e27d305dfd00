import { cpus, totalmem } from 'node:os'
import { type Contender, LEAST_ROWS, OPERATIONS, type Operation, type Running } from './contender.ts'
import { floor } from './floor.ts'
import { directus } from './peers/directus.ts'
import { parse } from './peers/parse.ts'
import { payload } from './peers/payload.ts'
import { pocketbase } from './peers/pocketbase.ts'
import { strapi } from './peers/strapi.ts'
import { median, type Readings, summary } from './summary.ts'
import { tildebase, workerd } from './tildebase.ts'
import { demandTools, missingTools, POSTGRESQL, WRK } from './tools.ts'
import { fireMix, type Reading, WARM_UP, warmUp } from './wrk.ts'

/**
 * Compares with a floor and with others, in turns, by operation. Run it with
 * `npm run bench -- compare [operation…] [contender…]`; without names it is all of them. With `BENCH_BEFORE=<folder>`,
 * another checkout runs next to this one as `before` and `before-workers`.
 */
const BEFORE = process.env.BENCH_BEFORE
const ALL: { readonly [name: string]: Contender } = {
  floor,
  node: tildebase(0),
  workers: tildebase(2),
  ...(BEFORE && { before: tildebase(0, BEFORE), 'before-workers': tildebase(2, BEFORE) }),
  workerd,
  parse,
  directus,
  strapi,
  payload,
  pocketbase,
}

const ROWS = Number(process.env.BENCH_ROWS ?? 100_000)
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3)
const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 64)

interface Entrant {
  readonly name: string
  readonly running: Running
}

const asked = process.argv.slice(2)
const unknown = asked.filter((word) => !Object.hasOwn(ALL, word) && !OPERATIONS.includes(word as Operation))
if (unknown.length > 0)
  throw new Error(`There is no ${unknown.join(', ')}: name ${[...Object.keys(ALL), ...OPERATIONS].join(', ')}.`)
demandTools(WRK)
if (ROWS < LEAST_ROWS) throw new Error(`Lists need at least ${LEAST_ROWS} rows.`)
const operations = OPERATIONS.filter((operation) => asked.includes(operation))
const contenders = Object.entries(ALL).filter(([name]) => asked.includes(name))
await compare(
  (contenders.length > 0 ? contenders : Object.entries(ALL)).map(([, contender]) => contender),
  operations.length > 0 ? operations : OPERATIONS,
)

async function compare(all: readonly Contender[], wanted: readonly Operation[]): Promise<void> {
  const machine = `${cpus().length} × ${cpus()[0]?.model || process.arch}, ${Math.round(totalmem() / 2 ** 30)} GiB`
  say(`${ROWS} rows, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s in turns after ${WARM_UP}`)
  say(`${machine}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`)
  if (all.includes(parse))
    for (const sentence of missingTools([POSTGRESQL])) say(`${sentence} Without it Parse is left out.`)
  const measured = new Map<Operation, Readings>()
  const entrants: Entrant[] = []
  try {
    for (const contender of all) {
      const running = await contender.start(ROWS).catch((reason: Error) => reason)
      if (running instanceof Error) say(`${contender.name}: not compared. ${running.message}`)
      else {
        entrants.push({ name: contender.name, running })
        say(`${contender.name}: ${contender.durability}`)
      }
    }
    for (const operation of wanted) {
      const readings = await compareOne(operation, entrants)
      if (readings.size > 0) measured.set(operation, readings)
    }
  } finally {
    for (const { running } of entrants) await running.stop()
  }
  const names = entrants.map(({ name }) => name)
  if (measured.size > 0) return say(`\nFor the docs:\n\n${summary(names, measured)}`)
  console.error('Nothing was measured.')
  process.exitCode = 1
}

/** Compares one operation, and gives the readings of the contenders that have it. */
async function compareOne(operation: Operation, entrants: readonly Entrant[]): Promise<Readings> {
  const readings = new Map<string, Reading[]>()
  for (let round = -1; round < ROUNDS; round++) {
    for (const { name, running } of entrants) {
      const shot = running.shots[operation]
      if (!shot) continue
      const mix = [{ shot, share: 1 }]
      const reading = await (round < 0
        ? warmUp(running, mix, CONNECTIONS)
        : fireMix(running, mix, SECONDS, CONNECTIONS)
      ).catch((reason: Error) => reason)
      if (reading instanceof Error) say(`${name} failed: ${reading.message}`)
      else if (reading) readings.set(name, [...(readings.get(name) ?? []), reading])
    }
  }
  const least = readings.get(floor.name)
  say(`\n${operation}`)
  say(
    row(['', 'per second', 'spread', 'of the floor', 'p50 ms', 'p99 ms', 'CPU µs', 'of the floor', 'RSS MB', 'errors']),
  )
  for (const { name, running } of entrants) {
    const list = readings.get(name)
    const why = running.shots[operation] ? 'failed' : 'does not have it'
    say(list ? row([name, ...figures(list, least)]) : row([name, why]))
  }
  return readings
}

function figures(list: readonly Reading[], least: readonly Reading[] | undefined): string[] {
  const middle = (pick: (reading: Reading) => number) => median(list.map(pick))
  const share = (part: number) => (Number.isFinite(part) ? `${(part * 100).toFixed(0)} %` : '–')
  const rates = list.map((reading) => reading.perSecond)
  const rate = middle((reading) => reading.perSecond)
  const cpu = middle((reading) => reading.cpuPerRequest)
  return [
    rate.toFixed(0),
    `${Math.min(...rates).toFixed(0)}–${Math.max(...rates).toFixed(0)}`,
    share(rate / median((least ?? []).map((reading) => reading.perSecond))),
    middle((reading) => reading.p50).toFixed(2),
    middle((reading) => reading.p99).toFixed(2),
    (cpu * 1_000).toFixed(0),
    share(median((least ?? []).map((reading) => reading.cpuPerRequest)) / cpu),
    (middle((reading) => reading.rss) / 2 ** 20).toFixed(0),
    String(list.reduce((sum, { errors }) => sum + errors, 0)),
  ]
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(22) : cell.padStart(12))).join(' | ')} |`
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
