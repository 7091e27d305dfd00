import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { OPERATIONS, type Operation } from '../compare/contender.ts'
import { tildebase } from '../compare/tildebase.ts'
import { demandTools, WRK } from '../compare/tools.ts'
import { fire } from '../compare/wrk.ts'
import { type Split, splitByLayer } from './layers.ts'
import type { Recording } from './recorder.ts'

/**
 * Prints where the microseconds of a request go, by layer and by SQL statement. Run it with
 * `npm run bench -- profile [operation]`; with `BENCH_BEFORE=<folder>` another checkout is measured next to this one.
 */
const operation = (process.argv[2] ?? 'create') as Operation
const ROWS = Number(process.env.BENCH_ROWS ?? 20_000)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 5)
const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 64)

if (!OPERATIONS.includes(operation)) throw new Error(`There is no ${operation}: name one of ${OPERATIONS.join(', ')}.`)
demandTools(WRK)

const checkouts = process.env.BENCH_BEFORE ? [undefined, process.env.BENCH_BEFORE] : [undefined]
const measured: (Split & { recording: Recording; requests: number })[] = []
for (const checkout of checkouts) measured.push(await measure(checkout))

const [mine, before] = measured
const beside = (us: number | undefined) => (before === undefined ? '' : `  before ${(us ?? 0).toFixed(1).padStart(6)}`)
console.log(`${operation}: microseconds per request, one thread, ${ROWS} rows, ${CONNECTIONS} connections`)
for (const [layer, us] of sorted(mine!.layers)) console.log(line(us, beside(before?.layers.get(layer)), layer))
console.log('\nSQL statements (calls per request)')
for (const { sql, calls, ms } of mine!.recording.statements.toSorted((a, b) => b.ms - a.ms).slice(0, 12)) {
  const then = before?.recording.statements.find((other) => other.sql === sql)
  const us = (ms * 1_000) / mine!.requests
  const text = `${(calls / mine!.requests).toFixed(2)} × ${sql.replace(/\s+/g, ' ').slice(0, 90)}`
  console.log(line(us, beside(then && (then.ms * 1_000) / before!.requests), text))
}
console.log('\nFunctions')
for (const [name, us] of sorted(mine!.functions).slice(0, Number(process.env.BENCH_FUNCTIONS ?? 30)))
  console.log(line(us, beside(before?.functions.get(name)), name))

async function measure(checkout: string | undefined): Promise<(typeof measured)[number]> {
  const file = join(tmpdir(), `tildebase-recording-${process.pid}.json`)
  process.env.BENCH_RECORDING = file
  process.env.NODE_OPTIONS = `--import ${join(import.meta.dirname, 'recorder.ts')}`
  const running = await tildebase(0, checkout).start(ROWS)
  try {
    const shot = running.shots[operation]
    if (!shot) throw new Error(`${operation} cannot be measured.`)
    await fire(running, shot, SECONDS, CONNECTIONS)
    running.process.kill('SIGUSR2')
    await sleep(200)
    const { perSecond } = await fire(running, shot, SECONDS, CONNECTIONS)
    running.process.kill('SIGUSR2')
    await sleep(1_000)
    const recording = JSON.parse(readFileSync(file, 'utf8')) as Recording
    const requests = perSecond * SECONDS
    return { ...splitByLayer(recording, requests), recording, requests }
  } finally {
    await running.stop()
    rmSync(file, { force: true })
  }
}

function sorted(map: ReadonlyMap<string, number>): [string, number][] {
  return [...map].toSorted(([, a], [, b]) => b - a)
}

function line(us: number, then: string, text: string): string {
  return `${us.toFixed(1).padStart(8)}${then}  ${text}`
}
