import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addressOf, stopProcess } from '../compare/process.ts'

/** The operator's key of a bench server. */
export const KEY = 'key-of-the-bench-which-is-long-enough'
const FROM_SOURCES = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'bin', 'tilde.js')

/** A server in its own process, on a fresh data folder. */
export interface BenchServer {
  readonly url: string
  readonly pid: number
  readonly data: string
  readonly startedMs: number
  /** The status of one request; its body is read and dropped. */
  ask(method: string, path: string, body?: object | string, type?: string): Promise<number>
  /** Resident memory in MiB, of the process with all its threads. */
  rss(): number
  /** The highest resident memory in MiB since the start, or since it was reset. */
  peak(): number
  resetPeak(): void
  /** How many of its threads died so far. */
  deaths(): number
  /** Milliseconds of computing so far, all threads. */
  cpu(): number
  stop(): Promise<void>
}

export async function startServer(
  workers: number,
  env: Record<string, string> = {},
  data?: string,
  command = FROM_SOURCES,
): Promise<BenchServer> {
  const folder = data ?? mkdtempSync(join(tmpdir(), 'tildebase-bench-'))
  const begun = performance.now()
  const args = [command, 'serve', '--port', '0', '--data', folder, '--workers', String(workers)]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, TILDE_ROOT_KEY: KEY, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let deaths = 0
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    deaths += text.split('"A worker is replaced"').length - 1
    if (env.BENCH_PROFILE) process.stderr.write(text)
  })
  const url = await addressOf(child)
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  return {
    url,
    pid: child.pid!,
    data: folder,
    startedMs: performance.now() - begun,
    ask: (method, path, body, type = 'application/json') =>
      new Promise((done, failed) => {
        const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
        const headers = { authorization: `Bearer ${KEY}`, ...(text !== undefined && { 'content-type': type }) }
        request(`${url}${path}`, { method, agent, headers }, (response) => {
          response.resume()
          response.on('end', () => done(response.statusCode!))
          response.on('error', failed)
        })
          .on('error', failed)
          .end(text)
      }),
    rss: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1_024,
    peak: () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1_024,
    resetPeak: () => writeFileSync(`/proc/${child.pid}/clear_refs`, '5'),
    deaths: () => deaths,
    cpu: () => {
      const ticks = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
      return (Number(ticks[11]) + Number(ticks[12])) * 10
    },
    async stop() {
      agent.destroy()
      await stopProcess(child)
      if (data === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** How large a tenant's file is, in KiB, while nothing of it is in the log next to it. */
export function fileSize(data: string, slug: string): number {
  return statSync(join(data, 'tenants', slug.slice(0, 2), `${slug}.db`)).size / 1_024
}

/** The value below which that part of the sorted values lies. */
export function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(Math.floor(values.length * part), values.length - 1)] ?? Number.NaN
}
