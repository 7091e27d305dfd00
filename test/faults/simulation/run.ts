// npm run simulate -- [processes] [seed] [--episodes 10] [--step 0]
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compileDisk, diskVariables } from './disk.ts'
import type { Report } from './process.ts'

/** Files in memory are as good, since nothing is left to the real disk. */
const MEMORY = '/dev/shm'
const PROCESS = join(import.meta.dirname, 'process.ts')

export interface Simulated {
  readonly seed: number
  readonly episodes: number
  /** Also lets every so many of the operations of a sequence on the disk fail; 0 for none. */
  readonly step: number
}

/** Runs episodes of the simulated service in a process of their own. The seed repeats the clients and the faults. */
export async function simulateServer({ seed, episodes, step }: Simulated): Promise<Report> {
  const root = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'tildebase-world-'))
  try {
    const variables = diskVariables(root, compileDisk(root))
    const program = spawn(process.execPath, [PROCESS, root, ...[seed, episodes, step].map(String)], {
      // One thread for files and hashes: it ends its work in the order in which it was given.
      env: { ...process.env, ...variables, UV_THREADPOOL_SIZE: '1' },
      // What the service reports of its failing disk is expected.
      stdio: ['ignore', 'pipe', process.env.SIM_LOG ? 'inherit' : 'ignore'],
    })
    const text: string[] = await program.stdout!.setEncoding('utf8').toArray()
    return JSON.parse(text.join(''))
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { episodes: { type: 'string', default: '10' }, step: { type: 'string', default: '0' } },
  })
  const [processes = 10, first = 1] = positionals.map(Number)
  const sums: Record<string, number> = {}
  for (let seed = first; seed < first + processes; seed++) {
    const { faults, digest, ...counts } = await simulateServer({
      ...{ seed, episodes: Number(values.episodes), step: Number(values.step) },
    })
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
    for (const fault of faults.slice(0, 10)) console.log(`seed ${seed}: ${fault}`)
    if (faults.length > 0) process.exitCode = 1
    process.stderr.write(`seed ${seed} ${digest}: ${JSON.stringify(sums)}\n`)
  }
  console.log(JSON.stringify(sums))
}
