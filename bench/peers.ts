import { spawnSync } from 'node:child_process'
import { loadavg } from 'node:os'
import { join } from 'node:path'

/**
 * Compares us with products that their users run on SQLite: single operations, then the mix over 200 tenants, and prints the
 * tables of the docs. Run it with `npm run bench -- peers [peer…]`; it takes about eight minutes.
 */
const PEERS = ['directus', 'strapi', 'payload']
const asked = process.argv.slice(2)
const peers = asked.length > 0 ? asked : PEERS
const operations = ['get', 'list', 'create', 'update']

run('compare', ['floor', 'node', 'workers', ...peers, ...operations], { BENCH_SECONDS: '3', BENCH_ROUNDS: '2' })
run('mixed', ['node', 'worker', ...peers], { BENCH_SECONDS: '4', BENCH_ROUNDS: '2' })

/** Runs one bench with few rows, since the peers are slow. The environment may set other values. */
function run(bench: string, args: readonly string[], settings: { readonly [name: string]: string }): void {
  console.log(`\n## ${bench}, load ${loadavg()[0]!.toFixed(1)} before\n`)
  const env = { BENCH_ROWS: '20000', BENCH_CONNECTIONS: '32', ...settings, ...process.env }
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, bench, 'index.ts'), ...args], {
    env,
    stdio: 'inherit',
  })
  if (status !== 0) process.exitCode = 1
}
