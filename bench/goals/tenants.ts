import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type BenchServer, quantile, startServer } from '../hosts/server.ts'
import { print } from './figure.ts'

const COUNT = Number(process.env.BENCH_TENANTS ?? 100_000)
const OPENED = 500
const SAVED = 300

/** A folder that is kept: the next run continues to fill it, or uses it as it is. */
const KEPT = process.env.BENCH_FOLDER

/** Many tenants in one data folder: a start, a list, reads of tenants that must be opened, copies, and idle time. */
export async function tenants(): Promise<void> {
  const folder = KEPT ?? mkdtempSync(join(tmpdir(), 'tildebase-bench-'))
  try {
    await fill(folder)
    const server = await startServer(0, {}, folder)
    const used = `${(server.cpu() / 1_000).toFixed(2)} s of CPU time`
    print({ text: `start with ${COUNT} tenants`, unit: 's', atMost: 1 }, server.startedMs / 1_000, used)

    const listed = await timed(() => demand(server, '/operator/tenants?limit=1000'))
    print({ text: 'a page of 1,000 of them', unit: 'ms', atMost: 1_000 }, listed)

    const waits: number[] = []
    for (let i = 0; i < OPENED; i++) waits.push(await timed(() => demand(server, `/~${slugOf(i * 197)}/Contact`)))
    const rss = `${server.rss().toFixed(0)} MiB after ${OPENED} of them`
    print({ text: 'reading one that must be opened, p50', unit: 'ms', atMost: 10 }, quantile(waits, 0.5), rss)

    const saves: number[] = []
    for (let i = 0; i < SAVED; i++) {
      saves.push(await timed(() => demand(server, `/operator/tenants/${slugOf(i * 311 + 7)}/backup`)))
    }
    print({ text: 'backing one up, p50', unit: 'ms', atMost: 20 }, quantile(saves, 0.5))

    // When keys were used is written down once a minute: then nothing is left to do.
    await new Promise((done) => setTimeout(done, 65_000))
    const before = server.cpu()
    await new Promise((done) => setTimeout(done, 15_000))
    print({ text: 'CPU time while nothing is asked', unit: 'ms/s', atMost: 0 }, (server.cpu() - before) / 15)
    await server.stop()
  } finally {
    if (KEPT === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

/** One tenant is written by a server; the others are copies of its file. */
async function fill(folder: string): Promise<void> {
  const server = await startServer(0, {}, folder)
  await server.ask('POST', '/~first/Contact', { name: 'Ada Lovelace', email: 'ada@example.com' })
  await server.stop()
  const first = join(folder, 'tenants', 'fi', 'first.db')
  for (let i = 0; i < COUNT; i++) {
    const slug = slugOf(i)
    const path = join(folder, 'tenants', slug.slice(0, 2), `${slug}.db`)
    if (KEPT !== undefined && existsSync(path)) continue
    mkdirSync(dirname(path), { recursive: true })
    copyFileSync(first, path)
  }
}

function slugOf(i: number): string {
  return `${(i % COUNT).toString(36).padStart(4, '0').split('').reverse().join('')}-t`
}

async function demand(server: BenchServer, path: string): Promise<void> {
  const status = await server.ask('GET', path)
  if (status !== 200) throw new Error(`${path} was answered with ${status}.`)
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}
