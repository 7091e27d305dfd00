import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Receiver } from '../receiver.ts'
import { ask, type Server, startServer } from './server.ts'

/** How a process ends before the next one begins. */
export type Stop = 'SIGTERM' | 'SIGKILL'

const ENV = {
  TILDE_WEBHOOKS_INSECURE: '1',
  TILDE_WEBHOOK_TIMEOUT: '60s',
  TILDE_WEBHOOK_RETRIES: Array(30).fill('1s').join(),
  NODE_COMPILE_CACHE: join(tmpdir(), 'tildebase-cli-cache'),
}
/** Alarms and runs become due while the process stops: so long after they were stored. */
const SOON = 3_000
/** How long a tenant may take for what is due. An alarm that was lost comes after a minute, or never. */
const PATIENCE = 30_000
const AT_ONCE = 8
/** A tenant whose receiver never answers: it makes an orderly stop last. */
const HANGING = 'hanging'

/** What came of a stop: per tenant, the things that did not happen after it. */
export interface StopReport {
  readonly missing: readonly string[]
}

/** Tenants with a delivery, a timer, a run and a schedule that become due while the service stops. No client opens them again. */
export async function stopWithDue(stop: Stop, count: number): Promise<StopReport> {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-stops-'))
  const receiver = await Receiver.start()
  receiver.answer(({ path }, response) => void (path.endsWith(HANGING) || response.writeHead(500).end()))
  const servers: Server[] = [await startServer(data, ENV)]
  try {
    const { url } = servers[0]!
    const slugs = Array.from({ length: count }, (_, at) => `t${at}`)
    await inParallel([HANGING, ...slugs], (slug) => prepare(url, slug, receiver.url))
    const due = new Date(Date.now() + SOON).toISOString()
    await inParallel([HANGING, ...slugs], (slug) => begin(url, slug, due))

    await ended(servers[0]!, stop)
    const stoppedAt = receiver.requests.length
    receiver.answer(204)
    servers.push(await startServer(data, ENV))
    return { missing: await missing(receiver, slugs, stoppedAt) }
  } finally {
    for (const server of servers)
      if (server.process.exitCode === null && server.process.signalCode === null) await server.kill()
    await receiver.stop()
    rmSync(data, { recursive: true, force: true })
  }
}

async function prepare(url: string, slug: string, receiver: string): Promise<void> {
  const type = { ringAt: 'datetime', ring: { event: 'rang' }, $timers: { ring: { at: 'ringAt', run: 'ring' } } }
  await made(url, 'PUT', `/~${slug}/schema/Bell`, type)
  const events = ['Contact.created', 'Contact.updated', 'Bell.rang']
  await made(url, 'POST', `/~${slug}/Webhook`, { url: `${receiver}/${slug}`, events })
}

async function begin(url: string, slug: string, due: string): Promise<void> {
  const scheduled = { verb: 'create', type: 'Contact', args: { name: 'Scheduled' } }
  await workflow(url, slug, { name: 'Tick', schedule: '*/2 * * * * *', steps: [scheduled] })
  const code = `() => { if (Date.now() < Date.parse('${due}')) throw new Error('Not yet') }`
  const update = { verb: 'update', type: 'Contact', id: '$event.data.$id', args: { title: 'Done' } }
  const retryPolicy = { retries: 20, backoff: '1s' }
  const filter = { name: 'Ada' }
  await workflow(url, slug, {
    name: 'Run',
    triggerEvent: 'Contact.created',
    filter,
    steps: [{ code }, update],
    retryPolicy,
  })
  await made(url, 'POST', `/~${slug}/Bell`, { ringAt: due })
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

/** What has not arrived of each tenant after the stop, once all has or the time is over. */
async function missing(receiver: Receiver, slugs: readonly string[], from: number): Promise<string[]> {
  const expected = slugs.flatMap((slug) => ['delivery', 'timer', 'run', 'schedule'].map((kind) => `${slug} ${kind}`))
  for (const end = Date.now() + PATIENCE; ; await new Promise((next) => setTimeout(next, 100))) {
    const seen = new Set(
      receiver.requests.slice(from).map(({ path, body }) => `${path.split('/').at(-1)} ${kindOf(body)}`),
    )
    const open = expected.filter((one) => !seen.has(one))
    if (open.length === 0 || Date.now() > end) return open
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
