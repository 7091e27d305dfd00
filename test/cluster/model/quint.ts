import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Compiled, State } from './compile.ts'

export const MODEL = join(import.meta.dirname, 'cluster.qnt')
const CLI = join(import.meta.dirname, '../../node_modules/@informalsystems/quint/dist/src/cli.js')

/** Checks the types of the model and translates it. */
export function compileModel(): Compiled {
  return inFolder((folder) => {
    const printed = quint(folder, 'compile', MODEL, '--main', 'wholeBack', '--invariant', 'safe', '--target', 'json')
    return JSON.parse(printed)
  })
}

/** Traces that Quint's own simulator takes, with the invariants checked in each state. */
export function simulate(traces: number, steps: number, seed: number): readonly (readonly State[])[] {
  return inFolder((folder) => {
    const count = String(traces)
    quint(
      folder,
      ...['run', MODEL, '--main', 'whole', '--backend', 'typescript', '--step', 'busy', '--invariant', 'safe'],
      ...['--max-samples', count, '--n-traces', count, '--max-steps', String(steps), '--seed', String(seed)],
      ...['--out-itf', join(folder, 'trace_{seq}.itf.json')],
    )
    return readdirSync(folder).flatMap((name) =>
      name.startsWith('trace_') ? [statesOf(readFileSync(join(folder, name), 'utf8'))] : [],
    )
  })
}

function inFolder<T>(use: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'tilde-model-'))
  try {
    return use(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns what Quint prints. It ends without waiting for a pipe to be read, so it prints to a file. */
function quint(folder: string, ...args: readonly string[]): string {
  const path = join(folder, 'printed')
  const file = openSync(path, 'w')
  const { status, stderr } = spawnSync(process.execPath, [CLI, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', file, 'pipe'],
  })
  closeSync(file)
  const printed = readFileSync(path, 'utf8')
  if (status !== 0) throw new Error(`quint ${args[0]} failed.\n${stderr}\n${printed.slice(-4_000)}`)
  return printed
}

/** The states of a trace in the Informal Trace Format. Sets are in the order in which `compile.ts` has them. */
function statesOf(text: string): readonly State[] {
  const { states } = JSON.parse(text, (_, value) => {
    if (value?.['#bigint'] !== undefined) return Number(value['#bigint'])
    if (value?.['#map']) return new Map(value['#map'])
    if (value?.['#tup']) return value['#tup']
    if (value?.['#set']) return value['#set'].toSorted((a: never, b: never) => (keyOf(a) < keyOf(b) ? -1 : 1))
    return value
  }) as { readonly states: readonly State[] }
  return states.map((state) =>
    Object.fromEntries(
      Object.entries(state).flatMap(([name, value]) =>
        name.startsWith('#') ? [] : [[name.slice(name.lastIndexOf(':') + 1), value]],
      ),
    ),
  )
}

function keyOf(value: unknown): string | number {
  return typeof value === 'number' ? value : JSON.stringify(value)
}
