import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Receiver } from '../receiver.ts'
import { activated } from './restarts.ts'
import { ask, KEY, type Server, startServer } from './server.ts'

/** How a process ends before the next one begins. */
export type Stop = 'SIGTERM' | 'SIGKILL' | 'socket' | 'cluster'

/** The settings of a service whose first retry comes after so many milliseconds, and the others soon. */
const envOf = (soon: number) => ({
  TILDE_WEBHOOKS_INSECURE: '1',
  TILDE_WEBHOOK_TIMEOUT: '60s',
  TILDE_WEBHOOK_RETRIES: [`${soon}ms`, ...Array(30).fill('1s')].join(),
  NODE_COMPILE_CACHE: join(tmpdir(), 'tildebase-cli-cache'),
})
/** Everything becomes due so long after it was stored: while the process stops. Many tenants need more time before. */
const SOON = 3_000
const SOON_EACH = 250
/** How long a tenant may take for what is due. An alarm that was lost comes after a minute, or never. */
const PATIENCE = 30_000
const AT_ONCE = 8
/** A tenant whose receiver never answers: it makes an orderly stop last. */
const HANGING = 'hanging'

/** What came of a stop. */
export interface StopReport {
  /** Per tenant, the things that did not happen after it. */
  readonly missing: readonly string[]
  /** How long after the next start, or the end of the node that stopped, each thing happened, in milliseconds and in order. */
  readonly after: readonly number[]
}

type Env = ReturnType<typeof envOf>

/** A service that can be stopped, and what runs instead of it afterwards. */
interface Service {
  readonly url: string
  /** Stops it and starts the next. Calls `between` when the process that stops delivers nothing more. */
  restart(between: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

/** Tenants with a delivery, a timer, a run and a schedule that become due while the service stops. No client opens them again. */
export async function stopWithDue(stop: Stop, count: number): Promise<StopReport> {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-stops-'))
  const receiver = await Receiver.start()
  receiver.answer(({ path }, response) => void (path.endsWith(HANGING) || response.writeHead(500).end()))
  const soon = SOON + (count > 100 ? count * SOON_EACH : 0)
  const service = await STARTS[stop](data, envOf(soon))
  try {
    const { url } = service
    const slugs = Array.from({ length: count }, (_, at) => `t${at}`)
    await inParallel([HANGING, ...slugs], (slug) => prepare(url, slug, receiver.url))
    await inParallel([HANGING, ...slugs], (slug) => begin(url, slug, soon))
    const allDue = Date.now() + soon

    let stoppedAt = 0
    await service.restart(async () => {
      // Of many tenants all is due when the next process starts.
      if (count > 100) await new Promise((next) => setTimeout(next, allDue - Date.now()))
      stoppedAt = receiver.requests.length
      receiver.answer(204)
    })
    return await missing(receiver, slugs, stoppedAt, Date.now())
  } finally {
    await service.stop()
    await receiver.stop()
    rmSync(data, { recursive: true, force: true })
  }
}

const STARTS: { readonly [stop in Stop]: (data: string, env: Env) => Promise<Service> } = {
  SIGTERM: (data, env) => bySignal(data, env, 'SIGTERM'),
  SIGKILL: (data, env) => bySignal(data, env, 'SIGKILL'),
  socket: async (data, env) => {
    const { url, restart, stop } = await activated(data, env)
    return {
      url,
      stop,
      restart: async (between) => {
        // The process that stops delivers nothing more once it has begun to stop.
        const next = restart()
        await between()
        await next
      },
    }
  },
  cluster: inCluster,
}

async function bySignal(data: string, env: Env, signal: NodeJS.Signals): Promise<Service> {
  let server = await startServer(data, env)
  return {
    url: server.url,
    async restart(between) {
      await ended(server, signal)
      await between()
      server = await startServer(data, env)
    },
    async stop() {
      if (server.process.exitCode === null && server.process.signalCode === null) await server.kill()
    },
  }
}

/** Two nodes of a cluster. The one that has all tenants stops, and the other takes them over. */
async function inCluster(_: string, given: Env): Promise<Service> {
  // PostgreSQL is a tool of some tests: the others do without.
  const [{ startPostgres }, { spawnNode }] = await Promise.all([
    import('../cluster/short/postgres.ts'),
    import('../cluster/short/nodes.ts'),
  ])
  const postgres = await startPostgres()
  const env = { ...given, TILDE_ROOT_KEY: KEY, TILDE_CREATE_TENANTS: 'write' }
  const first = await spawnNode(postgres.url, 'n1', undefined, undefined, env)
  let second: Awaited<ReturnType<typeof spawnNode>> | undefined
  return {
    url: first.url,
    async restart(between) {
      second = await spawnNode(postgres.url, 'n2', undefined, undefined, env)
      await first.kill('SIGTERM')
      await between()
    },
    async stop() {
      await Promise.all([first.stop(), second?.stop()])
      await postgres.stop()
    },
  }
}

async function prepare(url: string, slug: string, receiver: string): Promise<void> {
  const type = { ringAt: 'datetime', ring: { event: 'rang' }, $timers: { ring: { at: 'ringAt', run: 'ring' } } }
  await made(url, 'PUT', `/~${slug}/schema/Bell`, type)
  const events = ['Contact.created', 'Contact.updated', 'Bell.rang']
  await made(url, 'POST', `/~${slug}/Webhook`, { url: `${receiver}/${slug}`, events })
}

async function begin(url: string, slug: string, soon: number): Promise<void> {
  const due = new Date(Date.now() + soon)
  const scheduled = { verb: 'create', type: 'Contact', args: { name: 'Scheduled' } }
  // Few tenants have schedules that come again and again, also while the process stops.
  const cron = soon === SOON ? '*/2 * * * * *' : `${due.getUTCSeconds()} ${due.getUTCMinutes()} * * * *`
  await workflow(url, slug, { name: 'Tick', schedule: cron, steps: [scheduled] })
  const code = `() => { if (Date.now() < ${due.getTime()}) throw new Error('Not yet') }`
  const update = { verb: 'update', type: 'Contact', id: '$event.data.$id', args: { title: 'Done' } }
  const retryPolicy = { retries: 20, backoff: soon === SOON ? '1s' : `${Math.ceil(soon / 1_000)}s` }
  const filter = { name: 'Ada' }
  await workflow(url, slug, {
    name: 'Run',
    triggerEvent: 'Contact.created',
    filter,
    steps: [{ code }, update],
    retryPolicy,
  })
  await made(url, 'POST', `/~${slug}/Bell`, { ringAt: due.toISOString() })
  await made(url, 'POST', `/~${slug}/Contact`, { name: 'Ada' })
}

async function workflow(url: string, slug: string, body: object): Promise<void> {
  const { $id } = await made(url, 'POST', `/~${slug}/Workflow`, body)
  await made(url, 'POST', `/~${slug}/Workflow/${$id}/activate`)
}

async function made(url: string, method: string, path: string, body?: object): Promise<any> {
  const reply = await ask(url, method, path, body)
  if (reply === null || reply.status >= 300) throw new Error(`${path}: ${JSON.stringify(reply)}`)
  return reply.body
}

/** What has not arrived of each tenant after the stop, once all has or the time is over, and when the rest arrived. */
async function missing(receiver: Receiver, slugs: readonly string[], from: number, start: number): Promise<StopReport> {
  const expected = slugs.flatMap((slug) => ['delivery', 'timer', 'run', 'schedule'].map((kind) => `${slug} ${kind}`))
  const seen = new Map<string, number>()
  for (const end = Date.now() + PATIENCE; ; await new Promise((next) => setTimeout(next, 100))) {
    for (const { path, body, at } of receiver.requests.slice(from).toReversed())
      seen.set(`${path.split('/').at(-1)} ${kindOf(body)}`, at - start)
    const open = expected.filter((one) => !seen.has(one))
    if (open.length === 0 || Date.now() > end) {
      const after = expected.flatMap((one) => seen.get(one) ?? []).sort((a, b) => a - b)
      return { missing: open, after }
    }
  }
}

function kindOf({ type, data }: { type: string; data: { name?: string } }): string {
  if (type === 'Bell.rang') return 'timer'
  if (type === 'Contact.updated') return 'run'
  return data.name === 'Ada' ? 'delivery' : 'schedule'
}

async function ended({ process }: Server, signal: NodeJS.Signals): Promise<void> {
  const gone = once(process, 'exit')
  process.kill(signal)
  await gone
}

async function inParallel(slugs: readonly string[], work: (slug: string) => Promise<void>): Promise<void> {
  const left = [...slugs]
  const next = async (): Promise<void> => {
    for (let slug = left.shift(); slug !== undefined; slug = left.shift()) await work(slug)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next))
}
