import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { TestBucket } from '../../test/content/bucket.ts'
import { contact } from '../bulk/server.ts'
import { type BenchServer, KEY, startServer } from '../hosts/server.ts'

/**
 * How long a backup to a bucket and a restore from it take: `node build/node.js bench/files/restore.ts [events]`. The bucket
 * is one of our own, in the memory of this process.
 */
const EVENTS = Number(process.argv[2] ?? 1_000_000)
const SLICE = 20_000
const TILDE = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'bin', 'tilde.js')

const bucket = await new TestBucket().start()
let server: BenchServer | undefined
try {
  const [core] = cpus()
  console.log(`${cpus().length} × ${core?.model}, Node ${process.version}, load ${loadavg()[0]!.toFixed(1)}`)
  server = await startServer(0)
  for (let from = 0; from < EVENTS; from += SLICE) {
    const rows = Array.from({ length: Math.min(SLICE, EVENTS - from) }, (_, n) => contact(from + n))
    await server.ask('POST', '/~bench/import/Contact', rows)
  }
  await measured(server, 'backup', 'backup', 'bench', '--to', 's3://tilde/logs/bench', '--json')
  await measured(server, 'restore', 'restore', 's3://tilde/logs/bench', '--as', 'again', '--json')
} finally {
  await server?.stop()
  await bucket.stop()
}

/** Runs a command in a process of its own and says how long it took, with the load and the server's share. */
async function measured({ url, cpu, peak, resetPeak }: BenchServer, name: string, ...words: string[]): Promise<void> {
  resetPeak()
  const [began, used] = [performance.now(), cpu()]
  const child = spawn(process.execPath, [...process.execArgv, TILDE, ...words], {
    env: { ...process.env, TILDE_URL: url, TILDE_ROOT_KEY: KEY, ...bucket.settings },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${name} ended with ${code}.`)
  const seconds = ((performance.now() - began) / 1_000).toFixed(1)
  const busy = ((cpu() - used) / 1_000).toFixed(1)
  const load = loadavg()[0]!.toFixed(1)
  console.log(`${name}: ${seconds} s; server ${busy} s of processor, at most ${peak().toFixed(0)} MiB; load ${load}`)
}
