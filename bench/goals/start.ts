import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { layOutPublished } from '../hosts/published.ts'
import { startServer } from '../hosts/server.ts'
import { median, print } from './figure.ts'

const STARTS = 7
const TENANTS = 40

/** A start on a folder that was used before, its memory, the first write of tenants, and the CPU time without requests. */
export async function start(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-bench-'))
  try {
    const published = await layOutPublished(join(folder, 'installed'))
    await printStarts('as published', folder, published)
    await printStarts('from sources', folder)

    const server = await startServer(0, {}, join(folder, 'data'))
    const firsts: number[] = []
    for (let i = -10; i < TENANTS; i++) {
      const begun = performance.now()
      await server.ask('POST', `/~first${i + 10}/Contact`, { name: 'Ada Lovelace', email: 'ada@example.com' })
      if (i >= 0) firsts.push(performance.now() - begun)
    }
    print({ text: 'first write of a tenant', unit: 'ms', atMost: 5 }, median(firsts))
    await new Promise((done) => setTimeout(done, 3_000))
    const before = server.cpu()
    await new Promise((done) => setTimeout(done, 10_000))
    print({ text: 'CPU time while nothing is asked', unit: 'ms/s', atMost: 0 }, (server.cpu() - before) / 10)
    await server.stop()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function printStarts(way: string, folder: string, command?: string): Promise<void> {
  const times: number[] = []
  const used: number[] = []
  const memory: number[] = []
  for (let i = -1; i < STARTS; i++) {
    const server = await startServer(0, {}, join(folder, 'data'), command)
    const atStart = server.cpu()
    await new Promise((done) => setTimeout(done, 500))
    if (i >= 0) {
      times.push(server.startedMs)
      used.push(atStart)
      memory.push(server.rss())
    }
    await server.stop()
  }
  const cpu = `${(median(used) / 1_000).toFixed(2)} s of CPU time`
  print({ text: `start, ${way}`, unit: 's', atMost: 0.4 }, median(times) / 1_000, cpu)
  print({ text: `memory after the start, no workers, ${way}`, unit: 'MiB', atMost: 90 }, median(memory))
}
