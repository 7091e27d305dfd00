import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { COMPILED } from './cli/tilde.ts'

const BENCH = join(import.meta.dirname, '..', 'bench', 'index.ts')

let empty: string
beforeAll(() => {
  empty = mkdtempSync(join(tmpdir(), 'tildebase-bench-test-'))
})
afterAll(() => rmSync(empty, { recursive: true, force: true }))

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

function bench(path: string, env: Record<string, string>, ...args: string[]): Promise<Ended> {
  return new Promise((told) => {
    const options = { env: { PATH: path, HOME: empty, ...COMPILED, ...env } }
    execFile(process.execPath, [BENCH, ...args], options, (failed, out, err) =>
      told({ code: failed ? Number(failed.code ?? 1) : 0, out, err }),
    )
  })
}

test.each(['compare', 'threads', 'growth'])(
  'the bench %s tells at its start that wrk is missing, and fails',
  async (name) => {
    const { code, out, err } = await bench(empty, {}, name)

    expect([code, err]).toEqual([1, 'wrk is not installed. Install it: apt-get install wrk\n'])
    expect(out).not.toContain('rounds')
  },
)

test('a bench that measured nothing fails', async () => {
  // A wrk that cannot run: what it measures is nothing.
  const folder = mkdtempSync(join(empty, 'bin-'))
  symlinkSync('/bin/false', join(folder, 'wrk'))
  const few = { BENCH_ROWS: '5000', BENCH_ROUNDS: '1', BENCH_SECONDS: '1', BENCH_CONNECTIONS: '1' }

  const { code, out, err } = await bench(folder, few, 'compare', 'get', 'node')

  expect([code, err]).toEqual([1, 'Nothing was measured.\n'])
  expect(out).toContain('failed')
})
