// npm run test:cluster -- --rounds 1000 --seed 7 --faults primary --control early-answers --keep
import { spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Chance } from '../chance.ts'
import { CONTROLS } from './controls.ts'
import type { Fault } from './faults/fault.ts'
import { FAULTS } from './faults/index.ts'
import { prepareMoments } from './faults/moments.ts'
import { copyCheckout, ROOT } from './machines/checkout.ts'
import { Cluster } from './machines/cluster.ts'
import { buildPreload, install } from './machines/install.ts'
import { Network } from './machines/network.ts'
import { Summary, usesOf } from './report.ts'
import { failedRound, runRound, type TestTenant, verify } from './round.ts'
import { insist } from './workload/request.ts'

/** Tenants that are written to at the same time. */
const TENANTS = 4
/** Rounds after which new tenants are used, so that logs stay short enough to be verified each round. */
const FRESH = 6

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '60' },
    minutes: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    /** A part of the names of the faults to run. */
    faults: { type: 'string', default: '' },
    /** A broken version of the service, in which violations must be found. */
    control: { type: 'string' },
    /** The checkout that nodes run, and the one that a rolling upgrade brings: a copy of it when left out. */
    checkout: { type: 'string', default: ROOT },
    upgrade: { type: 'string' },
    /** A file that gets one line of JSON per round; `--table FILE` prints the table of such a file. */
    results: { type: 'string' },
    table: { type: 'string' },
    /** The program of Patroni: that of Debian 12 is 3.0.2, which can give the lock of the primary to two machines. */
    patroni: { type: 'string', default: 'patroni' },
    /** How many times longer clients pause between two requests, for several clusters on one machine. */
    pace: { type: 'string', default: '1' },
    /** Keeps logs and data. */
    keep: { type: 'boolean', default: false },
    /** Set by the process that made the network. */
    inside: { type: 'string', default: '' },
    folder: { type: 'string', default: '' },
  },
})

if (options.table !== undefined) print(Summary.of(options.table).table())
// The programs of the machines are still running: the process outside ends them.
else process.exit(options.inside === '' ? outside() : await inside())

/** Makes the network, and runs this program again inside of it. */
function outside(): number {
  install()
  const network = new Network(`tilde${process.pid}`)
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-cluster-'))
  chmodSync(folder, 0o755)
  // Signals go to the child as well; this process waits for it and cleans up.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
  let status = 1
  try {
    network.create()
    const args = [import.meta.filename, ...process.argv.slice(2), '--inside', network.prefix, '--folder', folder]
    status =
      spawnSync('ip', ['netns', 'exec', network.hub, process.execPath, ...args], { stdio: 'inherit' }).status ?? 1
  } finally {
    network.remove()
    if (options.keep || status !== 0) process.stdout.write(`Logs and data: ${folder}\n`)
    else rmSync(folder, { recursive: true, force: true })
  }
  return status
}

async function inside(): Promise<number> {
  const until = Date.now() + Number(options.minutes) * 60_000
  const { folder } = options
  const seed = Number(options.seed)
  const chance = new Chance(seed)
  const control = options.control === undefined ? null : CONTROLS[options.control]
  if (control === undefined) throw new Error(`Controls are ${Object.keys(CONTROLS).join(', ')}.`)
  const part = options.faults || (control?.faults ?? '')
  const faults = FAULTS.filter(({ name }) => name.includes(part))
  if (faults.length === 0) throw new Error(`No fault has ${part} in its name.`)
  const copy = join(folder, 'checkout')
  copyCheckout(options.checkout, copy, control?.patches)
  const cluster = new Cluster({
    network: new Network(options.inside),
    folder,
    preload: buildPreload(folder),
    patroni: options.patroni,
    checkouts: [control === null ? options.checkout : copy, options.upgrade ?? copy],
  })
  print(`seed ${seed}, ${faults.length} faults, logs in ${folder}`)
  await cluster.start()
  await prepareMoments(cluster)
  print('three databases and three nodes are ready')
  const summary = new Summary()
  let tenants: readonly TestTenant[] = []
  const ownUses = new Map<string, number>()
  for (let round = 0; round < Number(options.rounds) && Date.now() < until; round++) {
    if (round % FRESH === 0) {
      await verifyAll(cluster, tenants)
      tenants = await createTenants(cluster, round)
    }
    const began = Date.now()
    // Several runs may add to one file of results.
    const uses = options.results === undefined ? ownUses : usesOf(options.results)
    const fault = nextFault(faults, uses, chance)
    ownUses.set(fault.name, (ownUses.get(fault.name) ?? 0) + 1)
    const load = { name: `r${round}`, pace: Number(options.pace) }
    const report = await runRound(cluster, tenants, fault, chance, load).catch((reason: Error) => {
      // A broken version of the service may be so broken that a tenant does not answer the test any more.
      if (control === null) throw reason
      return failedRound(fault, reason.message)
    })
    summary.add(report)
    if (options.results !== undefined) appendFileSync(options.results, `${JSON.stringify({ seed, ...report })}\n`)
    const gap = `${(report.gap / 1_000).toFixed(1)} s`
    const seconds = (ms: number) => (ms / 1_000).toFixed(1)
    const parts = Object.entries(report.parts).map(([part, ms]) => `${part} ${seconds(ms)}`)
    print(
      `${round + 1} (${seconds(Date.now() - began)} s: ${parts.join(', ')}) ${report.fault}: ${report.acknowledged} acknowledged, ${report.unknown} unknown, gap ${gap} (${report.notes.join('; ')})`,
    )
    for (const { kind, message } of report.violations.slice(0, 10)) print(`  ${kind.toUpperCase()} ${message}`)
    if (report.violations.length > 0) break
  }
  if (summary.violations === 0) await verifyAll(cluster, tenants)
  print(`\n${summary.table()}\n`)
  if (summary.strange() !== '') print(`Answers that clients do not expect:\n${summary.strange()}\n`)
  if (control === null) return summary.violations === 0 ? 0 : 1
  print(summary.violations > 0 ? 'The control was found out.' : 'The control was NOT found out.')
  return summary.violations > 0 ? 0 : 1
}

/** The fault that came least often so far. Those that are quickly repaired come three times as often as others. */
function nextFault(faults: readonly Fault[], uses: ReadonlyMap<string, number>, chance: Chance): Fault {
  const costOf = ({ name, isSlow }: Fault) => (uses.get(name) ?? 0) * (isSlow ? 3 : 1)
  return chance.shuffle(faults).toSorted((a, b) => costOf(a) - costOf(b))[0]!
}

async function createTenants({ urls }: Cluster, round: number): Promise<TestTenant[]> {
  const tenants: TestTenant[] = []
  for (let i = 1; i <= TENANTS; i++) {
    const slug = `round${round}-${i}`
    await insist(urls, 'POST', '/operator/tenants', { tenant: slug }, { 'idempotency-key': slug })
    tenants.push({ slug, cursor: 0 })
  }
  return tenants
}

async function verifyAll({ urls }: Cluster, tenants: readonly TestTenant[]): Promise<void> {
  for (const tenant of tenants) {
    const [violation] = await verify(urls, tenant)
    if (violation !== undefined) throw new Error(violation.message)
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
