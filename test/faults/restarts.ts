import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ask, KEY } from './server.ts'

export interface RestartReport {
  readonly restarts: number
  readonly requests: number
  /** Requests that began before a restart and ended after it. */
  readonly long: number
  /** Times that a stream was ended and opened again. */
  readonly reconnects: number
  /** The longest time that a request waited for its answer, in milliseconds. */
  readonly slowest: number
  readonly faults: readonly string[]
}

const TENANTS = 6
/** Sources that were compiled once are not compiled at every start. */
const ENV = { NODE_COMPILE_CACHE: join(tmpdir(), 'tildebase-cli-cache') }
const MAIN = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))
const ACTIVATE = fileURLToPath(new URL('./activate.py', import.meta.url))

/**
 * Clients of every kind, and restarts meanwhile: no request may fail, and nothing may be lost or done twice. Without a service
 * that runs, it starts one.
 */
export async function restartUnderLoad(
  restarts: number,
  tell: (text: string) => void = () => {},
  running?: Restartable,
): Promise<RestartReport> {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-restarts-'))
  const service = running ?? (await activated(data))
  const load = new Load(service.url)
  try {
    await load.begin()
    tell('the load has begun')
    for (let i = 0; i < restarts; i++) {
      await pause(500 + (i % 4) * 250)
      await service.restart()
      tell(`restarted ${i + 1} times, ${load.requests} requests, ${load.faults.length} faults`)
      await load.isServed()
    }
    await load.end()
    tell('the load has ended')
    await load.compare()
    tell('all is compared')
  } finally {
    load.isOver = true
    await service.stop()
    rmSync(data, { recursive: true, force: true })
  }
  const { requests, long, reconnects, slowest, faults } = load
  return { restarts, requests, long, reconnects, slowest: Math.round(slowest), faults }
}

export interface Restartable {
  readonly url: string
  restart(): Promise<void>
  stop(): Promise<void>
}

/** A service that is started with its socket. */
export async function activated(data: string, env: Record<string, string> = ENV): Promise<Restartable> {
  const words = [ACTIVATE, process.execPath, MAIN, 'serve', '--data', data]
  const child: ChildProcess = spawn('python3', words, {
    env: { ...process.env, ...env, TILDE_ROOT_KEY: KEY },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout!.on('data', (chunk) => {
    out += chunk
  })
  const until = async (count: number) => {
    while (out.split('Tildebase listens').length <= count) await pause(10)
  }
  await until(1)
  let starts = 1
  return {
    url: `http://127.0.0.1:${Number.parseInt(out, 10)}`,
    async restart() {
      child.stdin!.write('restart\n')
      await until(++starts)
    },
    async stop() {
      const ended = once(child, 'exit')
      child.stdin!.end()
      await ended
    },
  }
}

/** Clients, and what they saw. */
class Load {
  readonly url: string
  readonly faults: string[] = []
  requests = 0
  long = 0
  reconnects = 0
  slowest = 0
  isOver = false
  readonly #written = new Map<string, Set<string>>()
  readonly #heard = new Map<string, string[]>()
  readonly #clients: Promise<void>[] = []
  readonly #streams: Promise<void>[] = []

  constructor(url: string) {
    this.url = url
  }

  async begin(): Promise<void> {
    for (let i = 0; i < TENANTS; i++) await this.#write(`t${i}`, new Agent())
    // Connections that are kept, those that are not, and one that is idle most of the time.
    for (let i = 0; i < 6; i++) this.#clients.push(this.#loop(new Agent({ keepAlive: true, maxSockets: 1 }), i, 10))
    for (let i = 0; i < 3; i++) this.#clients.push(this.#loop(new Agent({ keepAlive: false }), i, 15))
    this.#clients.push(this.#loop(new Agent({ keepAlive: true, maxSockets: 1 }), 9, 1_300))
    this.#clients.push(this.#upload())
    for (const slug of ['t0', 't1']) this.#streams.push(this.#follow(slug))
  }

  /** Waits until the service answers new connections. */
  async isServed(): Promise<void> {
    const { requests } = this
    while (this.requests < requests + 50 && this.faults.length === 0) await pause(5)
  }

  async end(): Promise<void> {
    this.isOver = true
    await Promise.all(this.#clients)
  }

  /** Acknowledged writes exist, and streams have sent each of them once. */
  async compare(): Promise<void> {
    for (const [slug, written] of this.#written) {
      const stored = await this.#names(slug)
      const missing = [...written].filter((name) => !stored.includes(name))
      if (missing.length > 0) this.faults.push(`${slug}: ${missing.length} acknowledged writes are missing`)
      if (stored.length !== new Set(stored).size) this.faults.push(`${slug}: a write was done twice`)
      const heard = this.#heard.get(slug)
      if (!heard) continue
      for (const until = Date.now() + 15_000; heard.length < stored.length && Date.now() < until; ) await pause(20)
      if (heard.length !== stored.length || new Set(heard).size !== heard.length)
        this.faults.push(`${slug}: the stream told of ${heard.length} of ${stored.length} events`)
    }
    const verdict = await ask(this.url, 'GET', '/operator/tenants/t0/verify')
    if (verdict?.body.ok !== true) this.faults.push(`verify: ${JSON.stringify(verdict)}`)
  }

  async #names(slug: string): Promise<string[]> {
    const names: string[] = []
    for (let cursor = ''; ; ) {
      const { body } = (await ask(this.url, 'GET', `/~${slug}/Contact?limit=100${cursor}`))!
      names.push(...body.results.map(({ name }: { name: string }) => name))
      if (!body.hasMore) return names
      cursor = `&cursor=${body.cursor}`
    }
  }

  async #loop(agent: Agent, client: number, idle: number): Promise<void> {
    for (let i = client; !this.isOver; i++) {
      const slug = `t${i % TENANTS}`
      if (i % 3 === 0) await this.#send(agent, 'GET', `/~${slug}/Contact?limit=5`)
      else await this.#write(slug, agent)
      await pause(idle)
    }
    agent.destroy()
  }

  async #write(slug: string, agent: Agent): Promise<void> {
    const name = `n${this.requests}-${Math.random()}`
    const status = await this.#send(agent, 'POST', `/~${slug}/Contact`, async function* () {
      yield JSON.stringify({ name })
    })
    if (status !== 201) return
    this.#written.set(slug, (this.#written.get(slug) ?? new Set()).add(name))
  }

  /** Requests that take long: their bodies come slowly. */
  async #upload(): Promise<void> {
    const agent = new Agent({ keepAlive: true })
    while (!this.isOver) {
      const begun = Date.now()
      const rows = async function* () {
        for (let i = 0; i < 12; i++) {
          await pause(150)
          yield `${JSON.stringify({ name: `u${begun}-${i}` })}\n`
        }
      }
      await this.#send(agent, 'POST', '/~uploads/import/Contact', rows, 'application/x-ndjson')
      this.long++
    }
    agent.destroy()
  }

  #send(
    agent: Agent,
    method: string,
    path: string,
    body?: () => AsyncGenerator<string>,
    type = 'application/json',
  ): Promise<number | null> {
    const begun = performance.now()
    return new Promise((done) => {
      const over = (status: number | null, fault?: string) => {
        this.requests++
        if (!path.includes('/import/')) this.slowest = Math.max(this.slowest, performance.now() - begun)
        if (fault !== undefined && this.faults.length < 50) this.faults.push(`${method} ${path}: ${fault}`)
        done(status)
      }
      const headers = { authorization: `Bearer ${KEY}`, ...(body && { 'content-type': type }) }
      const sent = request(`${this.url}${path}`, { method, agent, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        response.once('error', (reason) => over(null, String(reason)))
        response.once('end', () => {
          const { statusCode = 0 } = response
          over(statusCode, statusCode < 400 ? undefined : `${statusCode} ${text}`)
        })
      })
      sent.once('error', (reason) => over(null, String(reason)))
      void pour(body, sent)
    })
  }

  async #follow(slug: string): Promise<void> {
    const heard: string[] = []
    this.#heard.set(slug, heard)
    let last = ''
    for (let isFirst = true; !this.isOver || heard.length < (this.#written.get(slug)?.size ?? 0); isFirst = false) {
      if (!isFirst) this.reconnects++
      const from = last === '' ? { cursor: '0' } : { 'last-event-id': last }
      const query = last === '' ? '?cursor=0' : ''
      try {
        const headers = { authorization: `Bearer ${KEY}`, accept: 'text/event-stream', ...from }
        const response = await fetch(`${this.url}/~${slug}/events${query}`, { headers })
        if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
        let rest = ''
        for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
          const blocks = (rest + chunk).split('\n\n')
          rest = blocks.pop()!
          for (const block of blocks) {
            const id = /^id: ?(.+)$/m.exec(block)?.[1]
            if (id !== undefined) last = id
            if (block.includes('Contact.created')) heard.push(id!)
          }
        }
      } catch (reason) {
        this.faults.push(`stream of ${slug}: ${reason} ${(reason as Error).cause ?? ''}`)
      }
      await pause(20)
    }
  }
}

async function pour(body: (() => AsyncGenerator<string>) | undefined, sent: ReturnType<typeof request>) {
  if (body) for await (const chunk of body()) sent.write(chunk)
  sent.end()
}

if (import.meta.main) {
  const restarts = Number(process.argv[2] ?? 20)
  const report = await restartUnderLoad(restarts)
  process.stdout.write(`${JSON.stringify(report)}\n`)
  if (report.faults.length > 0) process.exitCode = 1
  process.exit()
}
