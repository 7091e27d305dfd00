import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const KEY = 'key-of-the-bench-which-is-long-enough'

export interface Server {
  readonly url: string
  /** The memory that the server holds, in MiB: now, and at its highest. */
  memory(): { readonly now: number; readonly most: number }
  /** The seconds of a processor that the server has used. */
  cpu(): number
  /** Waits until the server has nothing more to do: what it folds and flushes afterwards is not the next one's. */
  quiet(): Promise<void>
  stop(): Promise<void>
}

/** A server in its own process, as `npm start` starts it, so that its memory can be measured separately. */
export async function startServer(...flags: string[]): Promise<Server> {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-bench-'))
  const tilde = fileURLToPath(new URL('../../packages/cli/bin/tilde.js', import.meta.url))
  const program = ['--max-semi-space-size=16', ...flags, tilde, 'serve']
  const child = spawn(process.execPath, [...program, '--port', '0', '--workers', '0', '--data', data], {
    env: { ...process.env, TILDE_ROOT_KEY: KEY },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.once('exit', () => child.kill())
  const url = await firstUrl(child)
  const pid = await serverPid(child)
  return {
    url,
    memory: () => ({ now: status(pid, 'VmRSS'), most: status(pid, 'VmHWM') }),
    cpu: () => cpuSeconds(pid),
    async quiet() {
      for (let last = -1; cpuSeconds(pid) - last > 0.05; ) {
        last = cpuSeconds(pid)
        await new Promise((done) => setTimeout(done, 1_000))
      }
    },
    async stop() {
      const gone = new Promise((done) => child.once('exit', done))
      child.kill()
      await gone
      rmSync(data, { recursive: true, force: true })
    },
  }
}

function firstUrl(child: ChildProcess): Promise<string> {
  return new Promise((done, failed) => {
    let text = ''
    child.stdout!.on('data', (chunk) => {
      text += chunk
      const url = /https?:\/\/\S+/.exec(text)?.[0]
      if (url) done(url.replace(/[/.,]+$/, ''))
    })
    child.once('exit', () => failed(new Error('The server did not start.')))
  })
}

/** The command may start the server as its own child. */
async function serverPid(child: ChildProcess): Promise<number> {
  try {
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim()
    return children === '' ? child.pid! : Number(children.split(' ')[0])
  } catch {
    return child.pid!
  }
}

function status(pid: number, name: string): number {
  try {
    const line = readFileSync(`/proc/${pid}/status`, 'utf8')
      .split('\n')
      .find((one) => one.startsWith(name))
    return Math.round(Number(/\d+/.exec(line ?? '')?.[0]) / 1_024)
  } catch {
    return Number.NaN
  }
}

function cpuSeconds(pid: number): number {
  try {
    const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').slice(11, 13)
    return (Number(user) + Number(system)) / 100
  } catch {
    return Number.NaN
  }
}

/** Contacts as they are in life, each different. */
export function contact(i: number): object {
  return {
    name: `Person ${i}`,
    email: `person.${i}@example.com`,
    phone: `+49 30 ${String(i * 7_919).padStart(9, '0')}`,
    title: ['Engineer', 'Buyer', 'Director', 'Analyst'][i % 4],
    stage: ['Lead', 'Qualified', 'Customer'][i % 3],
    leadScore: (i * 37) % 100,
    lastEngagement: new Date(1_700_000_000_000 + i * 60_000).toISOString(),
    source: ['web', 'fair', 'call'][i % 3],
    region: { country: ['DE', 'FR', 'US'][i % 3], zip: String(10_000 + (i % 90_000)) },
  }
}

export function send(url: string, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = {
    authorization: `Bearer ${KEY}`,
    'accept-encoding': 'identity',
    ...(init.headers as Record<string, string>),
  }
  return fetch(`${url}${path}`, { ...init, headers, duplex: 'half' } as RequestInit)
}
