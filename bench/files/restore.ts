import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { TestBucket } from '../../test/content/bucket.ts'
import { contact } from '../bulk/server.ts'
import { type BenchServer, KEY, startServer } from '../hosts/server.ts'

/**
 * How long a backup to a bucket takes, and a restore from it on a server that has nothing else:
 * `node build/node.js bench/files/restore.ts [events]`. The bucket is one of our own, in the memory of this process.
 */
const EVENTS = Number(process.argv[2] ?? 1_000_000)
const SLICE = 20_000
const TICK_MS = 10
const LOOK_MS = 100
const TILDE = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'bin', 'tilde.js')

const bucket = await new TestBucket().start()
try {
  const [core] = cpus()
  console.log(`${cpus().length} × ${core?.model}, Node ${process.version}, ${EVENTS} events, load ${load()}`)
  await withServer(async (server) => {
    for (let from = 0; from < EVENTS; from += SLICE) {
      const rows = Array.from({ length: Math.min(SLICE, EVENTS - from) }, (_, n) => contact(from + n))
      await server.ask('POST', '/~bench/import/Contact', rows)
    }
    await measured(server, 'backup', 'backup', 'bench', '--to', 's3://tilde/logs/bench', '--json')
  })
  await withServer((server) =>
    measured(server, 'restore', 'restore', 's3://tilde/logs/bench', '--as', 'bench', '--json'),
  )
} finally {
  await bucket.stop()
}

async function withServer(work: (server: BenchServer) => Promise<void>): Promise<void> {
  const server = await startServer(0)
  try {
    await work(server)
  } finally {
    await server.stop()
  }
}

/** Runs a command in a process of its own and says how long it took, with the load and the work of both sides. */
async function measured(
  { url, pid, cpu, peak, resetPeak }: BenchServer,
  name: string,
  ...words: string[]
): Promise<void> {
  resetPeak()
  const threadsBefore = threadsOf(pid)
  const [began, used, before] = [performance.now(), cpu(), load()]
  const child = spawn(process.execPath, [...process.execArgv, TILDE, ...words], {
    env: { ...process.env, TILDE_URL: url, TILDE_ROOT_KEY: KEY, ...bucket.settings },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  let own = 0
  const looking = setInterval(() => {
    own = cpuOf(`/proc/${child.pid}/stat`) ?? own
  }, LOOK_MS)
  const [code] = await once(child, 'exit')
  clearInterval(looking)
  if (code !== 0) throw new Error(`${name} ended with ${code}.`)
  const seconds = (performance.now() - began) / 1_000
  const threads = [...threadsOf(pid)].map(([id, ms]) => ms - (threadsBefore.get(id) ?? 0))
  const each = (ms: number) => `${((ms * 1_000) / EVENTS).toFixed(1)} µs`
  console.log(
    `${name}: ${seconds.toFixed(1)} s, ${each(seconds * 1_000)} per event; processor time per event: server ${each(cpu() - used)}, ` +
      `its busiest thread ${each(Math.max(...threads))}, command ${each(own)}; server at most ${peak().toFixed(0)} MiB; load ${before} to ${load()}`,
  )
}

/** The milliseconds of a processor that each thread of a process has used, by its id. */
function threadsOf(pid: number): Map<string, number> {
  const folder = `/proc/${pid}/task`
  return new Map(readdirSync(folder).map((id) => [id, cpuOf(`${folder}/${id}/stat`) ?? 0]))
}

/** The milliseconds of a processor that a process or a thread has used; null when it has ended. */
function cpuOf(stat: string): number | null {
  try {
    const ticks = readFileSync(stat, 'utf8').split(') ')[1]!.split(' ')
    return (Number(ticks[11]) + Number(ticks[12])) * TICK_MS
  } catch {
    return null
  }
}

function load(): string {
  return loadavg()[0]!.toFixed(1)
}
