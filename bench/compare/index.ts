import { cpus, totalmem } from 'node:os'
import type { Contender, Operation, Running } from './contender.ts'
import { floor } from './floor.ts'
import { tildebase } from './tildebase.ts'
import { fire, type Reading } from './wrk.ts'

const OPERATIONS: readonly Operation[] = ['get', 'list', 'create', 'update', 'verb', 'asOf', 'text', 'batch']
const ROWS = Number(process.env.BENCH_ROWS ?? 100_000)
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3)
const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 64)

/** Compares contenders side by side, in turns, and prints medians, spreads and ratios. */
export async function compare(contenders: readonly Contender[], only: readonly string[]): Promise<void> {
  const operations = OPERATIONS.filter((operation) => only.length === 0 || only.includes(operation))
  say(
    `${ROWS} rows, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s in turns; ${cpus().length} × ${cpus()[0]?.model || process.arch}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`,
  )
  const running: { contender: Contender; running: Running }[] = []
  try {
    for (const contender of contenders) {
      running.push({ contender, running: await contender.start(ROWS) })
      say(`${contender.name}: ${contender.durability}`)
    }
    for (const operation of operations) await compareOne(operation, running)
  } finally {
    for (const { running: one } of running) await one.stop()
  }
}

async function compareOne(
  operation: Operation,
  all: readonly { contender: Contender; running: Running }[],
): Promise<void> {
  const readings = new Map<string, Reading[]>()
  for (let round = 0; round < ROUNDS; round++) {
    for (const { contender, running } of all) {
      const shot = running.shots[operation]
      if (!shot) continue
      const reading = await fire(running, shot, SECONDS, CONNECTIONS)
      readings.set(contender.name, [...(readings.get(contender.name) ?? []), reading])
    }
  }
  const base = median((readings.get(all[0]!.contender.name) ?? []).map((reading) => reading.perSecond))
  say(`\n${operation}`)
  say(row(['', 'per second', 'spread', 'of the first', 'p50 ms', 'p99 ms', 'CPU µs', 'RSS MB', 'errors']))
  for (const { contender } of all) {
    const list = readings.get(contender.name)
    say(list ? row([contender.name, ...figures(list, base)]) : row([contender.name, 'has no such thing']))
  }
}

function figures(list: readonly Reading[], base: number): string[] {
  const of = (pick: (reading: Reading) => number) => median(list.map(pick))
  const rates = list.map((reading) => reading.perSecond)
  const middle = of((reading) => reading.perSecond)
  return [
    middle.toFixed(0),
    `${Math.min(...rates).toFixed(0)}–${Math.max(...rates).toFixed(0)}`,
    `${((middle / base) * 100).toFixed(0)} %`,
    of((reading) => reading.p50).toFixed(2),
    of((reading) => reading.p99).toFixed(2),
    of((reading) => reading.cpuPerRequest * 1_000).toFixed(0),
    (of((reading) => reading.rss) / 2 ** 20).toFixed(0),
    String(list.reduce((sum, { errors }) => sum + errors, 0)),
  ]
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(22) : cell.padStart(12))).join(' | ')} |`
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

if (import.meta.main) {
  const only = process.argv.slice(2)
  await compare([floor, tildebase(0), tildebase(2)], only)
}
