import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '../../test/cluster/short/postgres.ts'
import type { Running, Shot } from '../compare/contender.ts'
import { addressOf, stopProcess } from '../compare/process.ts'
import { median } from '../compare/summary.ts'
import { demandTools, WRK } from '../compare/tools.ts'
import { fire, type Reading } from '../compare/wrk.ts'

/**
 * Transfers between two accounts, whole or not at all, with contention and without: the scenario of SpacetimeDB's
 * `templates/keynote-2`. Tildebase does each as an atomic batch of two verbs of a custom type, with hooks of the operator;
 * next to it small programs on Node and SQLite, and on Node and PostgreSQL. Run it with `npm run bench -- transfer`. With a contention of 1.5 every
 * third transfer takes from the same account; with 0 all accounts are equally likely.
 */
const ACCOUNTS = Number(process.env.BENCH_ACCOUNTS ?? 10_000)
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3)
const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 50)
const BALANCE = 1_000_000_000
const CONTENTIONS = [0, 1.5]
/** Transfers that are drawn before the run, and sent in any order. */
const DRAWN = 20_000
const KEY = 'key-of-the-bench-which-is-long-enough'

interface Bank {
  readonly name: string
  readonly running: Omit<Running, 'shots'>
  /** The request of each transfer. */
  shot(pairs: readonly Pair[]): Shot
  /** The sum of all balances: no transfer changes it. */
  total(): Promise<number>
}

type Pair = readonly [from: number, to: number]

interface Sums {
  readonly results: readonly { readonly sum: { readonly balance: number } }[]
}

demandTools(WRK)
console.log(`${ACCOUNTS} accounts, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s in turns after one`)
console.log(`${cpus().length} × ${cpus()[0]?.model || process.arch}, Node ${process.version}, ${today()}`)
const banks: Bank[] = []
try {
  banks.push(await sqlite(), await postgres(), await tildebase(0), await tildebase(1))
  for (const contention of CONTENTIONS) await compare(contention)
  for (const { name, total } of banks)
    if ((await total()) !== ACCOUNTS * BALANCE) throw new Error(`${name} lost or made money.`)
} finally {
  for (const { running } of banks) await running.stop()
}

async function compare(contention: number): Promise<void> {
  const draw = zipf(ACCOUNTS, contention)
  const pairs = Array.from({ length: DRAWN }, () => pairOf(draw))
  const readings = new Map<Bank, Reading[]>(banks.map((bank) => [bank, []]))
  for (let round = -1; round < ROUNDS; round++) {
    for (const [bank, all] of readings) {
      const reading = await fire({ ...bank.running, shots: {} }, bank.shot(pairs), SECONDS, CONNECTIONS)
      if (round >= 0) all.push(reading)
    }
  }
  console.log(`\ncontention ${contention}: transfers per second, p99 ms, µs of CPU time each, errors`)
  for (const [{ name }, all] of readings) {
    const middle = (pick: (reading: Reading) => number) => median(all.map(pick))
    const rate = middle(({ perSecond }) => perSecond).toFixed(0)
    const cpu = middle(({ cpuPerRequest }) => cpuPerRequest * 1_000).toFixed(0)
    const errors = all.reduce((sum, one) => sum + one.errors, 0)
    console.log(`${name.padEnd(24)} ${rate.padStart(7)} ${middle(({ p99 }) => p99).toFixed(1)} ${cpu} ${errors}`)
  }
}

async function sqlite(): Promise<Bank> {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-transfer-'))
  const file = fileURLToPath(new URL('./sqlite-server.ts', import.meta.url))
  const args = [file, join(folder, 'bank.db'), String(ACCOUNTS), String(BALANCE)]
  return program('Node + SQLite', await started(args, folder))
}

/** With the settings of PostgreSQL itself, which syncs each commit. The CPU time does not have that of its processes. */
async function postgres(): Promise<Bank> {
  const database = await startPostgres()
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-transfer-'))
  const file = fileURLToPath(new URL('./postgres-server.ts', import.meta.url))
  const args = [file, database.url, ...[ACCOUNTS, BALANCE, CONNECTIONS].map(String)]
  const running = await started(args, folder)
  const stop = async () => {
    await running.stop()
    await database.stop()
  }
  return program('Node + PostgreSQL', { ...running, stop })
}

function program(name: string, running: Bank['running']): Bank {
  return {
    name,
    running,
    shot: (pairs) => ({
      method: 'POST',
      paths: pairs.map(() => '/'),
      bodies: pairs.map(([from, to]) => JSON.stringify({ from, to, amount: 1 })),
      headers: {},
    }),
    total: async () => ((await (await fetch(running.url)).json()) as { total: number }).total,
  }
}

async function tildebase(workers: number): Promise<Bank> {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-transfer-'))
  const tilde = join(import.meta.dirname, '../../packages/cli/src/main.ts')
  const config = fileURLToPath(new URL('./program.ts', import.meta.url))
  const args = ['--port', '0', '--data', folder, '--workers', String(workers), '--config', config]
  const running = await started([tilde, 'serve', ...args], folder)
  const headers = { Authorization: `Bearer ${KEY}` }
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${running.url}/~bank${path}`, { ...init, headers: { ...headers, ...init.headers } })
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}: ${await answer.text()}`)
    return answer
  }
  const lines = Array.from({ length: ACCOUNTS }, (_, number) => JSON.stringify({ number, balance: BALANCE })).join('\n')
  await ask('/import/Account', { method: 'POST', body: lines, headers: { 'content-type': 'application/x-ndjson' } })
  const exported = (await (await ask('/export/Account?format=ndjson')).text()).trim().split('\n')
  const entities = exported.map((line) => JSON.parse(line) as { $id: string; number: number })
  const ids = new Map(entities.map(({ $id, number }) => [number, $id]))
  return {
    name: workers === 0 ? 'Tildebase, one thread' : `Tildebase, ${workers} worker`,
    running,
    shot: (pairs) => ({
      method: 'POST',
      paths: pairs.map(() => '/~bank/batch'),
      bodies: pairs.map(([from, to]) => batchOf(ids.get(from)!, ids.get(to)!)),
      headers,
    }),
    total: async () => {
      const { results } = (await (await ask('/Account/aggregate?sum=balance')).json()) as Sums
      return results[0]!.sum.balance
    },
  }
}

function batchOf(from: string, to: string): string {
  const leg = (id: string, verb: string) => ({
    id: verb,
    method: 'POST',
    path: `/Account/${id}/${verb}`,
    body: { amount: 1 },
  })
  return JSON.stringify({ atomic: true, operations: [leg(from, 'debit'), leg(to, 'credit')] })
}

async function started(args: readonly string[], folder: string): Promise<Omit<Running, 'shots'>> {
  const env = { ...process.env, TILDE_ROOT_KEY: KEY }
  const child = spawn(process.execPath, [...args], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await addressOf(child)
  return {
    url,
    process: child,
    async stop() {
      await stopProcess(child)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Draws a number below `count`: the k-th is drawn in proportion to 1 / (k + 1) ^ contention. */
function zipf(count: number, contention: number): () => number {
  const sums = new Float64Array(count)
  let sum = 0
  for (let i = 0; i < count; i++) {
    sum += (i + 1) ** -contention
    sums[i] = sum
  }
  return () => {
    const wanted = Math.random() * sum
    let [low, high] = [0, count - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (sums[middle]! < wanted) low = middle + 1
      else high = middle
    }
    return low
  }
}

function pairOf(draw: () => number): Pair {
  const from = draw()
  for (;;) {
    const to = draw()
    if (to !== from) return [from, to]
  }
}

function today(): string {
  return new Date().toISOString().slice(0, 10)
}
