import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { speak } from '../agents/wire.ts'
import { Chance } from '../chance.ts'
import { givenRounds } from './given.ts'
import { ask, type Server, type Start, startServer, WEBHOOKS } from './server.ts'

export interface AgentEventsReport {
  readonly rounds: number
  readonly seed: number
  readonly acknowledged: number
  /** Deliveries, the repeated ones included. */
  readonly deliveries: number
  /** Kills that came while events were still to be delivered. */
  readonly between: number
  readonly faults: readonly string[]
}

const CONTACTS = 10
/** In a round at most: with half of them on average, a thousand rounds are more than 100,000 events. */
const WRITES = 220
const PATIENCE = 60_000
const SECRET = `whsec_${randomBytes(32).toString('base64')}`

/** Writes, kill -9 between the answer and the delivery, restart: a subscription gets every event, in order per entity. */
export async function crashAgentEvents(
  rounds: number,
  seed: number,
  tell: (report: AgentEventsReport) => void = () => undefined,
  start: Start = (data) => startServer(data, WEBHOOKS),
): Promise<AgentEventsReport> {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-agent-events-'))
  const chance = new Chance(seed)
  const receiver = await Follower.listen()
  const acknowledged = new Map<string, number>()
  let server = await start(data)
  let round = 0
  let count = 0
  let between = 0
  const report = (): AgentEventsReport => ({
    rounds: round,
    seed,
    acknowledged: count,
    deliveries: receiver.deliveries,
    between,
    faults: receiver.faults,
  })
  try {
    const ids: string[] = []
    for (let i = 0; i < CONTACTS; i++) ids.push((await demand(server, 'POST', '/Contact', { name: `c${i}` })).$id)
    await subscribe(server, receiver.url)
    while (round < rounds && receiver.faults.length === 0) {
      // One chain of writes per contact, so that the versions of a contact are acknowledged in order.
      const kill = Math.floor(chance.between(0, WRITES))
      let done = 0
      let isOver = false
      const chains = ids.map(async (id) => {
        for (let i = 0; i < WRITES / CONTACTS && !isOver; i++) {
          const reply = await ask(server.url, 'PUT', `/~acme/Contact/${id}`, { title: `${round} ${i}` })
          if (reply === null) return
          if (reply.status !== 200) receiver.faults.push(`a write returned ${reply.status}`)
          acknowledged.set(id, Math.max(acknowledged.get(id) ?? 1, reply.body.$version))
          count++
          if (++done > kill) isOver = true
        }
      })
      await Promise.race([Promise.all(chains), until(() => isOver)])
      if (missing(acknowledged, receiver).length > 0) between++
      await server.kill()
      isOver = true
      await Promise.all(chains)
      server = await start(data)
      round++
      tell(report())
    }
    for (let before = -1; before < receiver.deliveries && missing(acknowledged, receiver).length > 0; ) {
      before = receiver.deliveries
      await until(() => missing(acknowledged, receiver).length === 0)
    }
    for (const id of missing(acknowledged, receiver)) receiver.faults.push(`events of ${id} were not delivered`)
    const verdict = await ask(server.url, 'GET', '/operator/tenants/acme/verify')
    if (!verdict?.body.ok) receiver.faults.push(JSON.stringify(verdict?.body))
  } finally {
    await server.kill()
    receiver.stop()
    rmSync(data, { recursive: true, force: true })
  }
  return report()
}

/** The address of a subscription: it checks signatures, and that the versions of an entity come without a gap. */
class Follower {
  deliveries = 0
  readonly faults: string[] = []
  /** The newest version of each entity that was delivered. */
  readonly newest = new Map<string, number>()
  readonly #server = createServer((request, response) => void this.#take(request).then((body) => response.end(body)))

  static async listen(): Promise<Follower> {
    const follower = new Follower()
    await new Promise<void>((done) => follower.#server.listen(0, '127.0.0.1', done))
    return follower
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #take(request: IncomingMessage): Promise<string> {
    const body = await text(request)
    let sent: any
    try {
      sent = new Webhook(SECRET).verify(body, request.headers as Record<string, string>)
    } catch (reason) {
      this.faults.push(`a delivery is not signed: ${reason}`)
      return ''
    }
    if (sent.challenge) return JSON.stringify({ challenge: sent.challenge })
    const { $id, $version } = sent.data
    const newest = this.newest.get($id) ?? 1
    // A repeated delivery is one of an event that was delivered; a new one is the next.
    if ($version > newest + 1) this.faults.push(`${$id}: version ${$version} came after ${newest}`)
    this.newest.set($id, Math.max(newest, $version))
    this.deliveries++
    return ''
  }
}

/** The entities whose acknowledged versions have not all been delivered. */
function missing(acknowledged: ReadonlyMap<string, number>, { newest }: Follower): string[] {
  return [...acknowledged].flatMap(([id, version]) => ((newest.get(id) ?? 1) < version ? [id] : []))
}

async function subscribe(server: Server, url: string): Promise<void> {
  const send = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    (await ask(server.url, method, path, body, headers)) as never
  const delivery = { mode: 'webhook', url, secret: SECRET }
  const { error } = await speak(send, 'acme', 'events/subscribe', { name: 'Contact.updated', arguments: {}, delivery })
  if (error) throw new Error(JSON.stringify(error))
}

async function demand(server: Server, method: string, path: string, body?: unknown): Promise<any> {
  const reply = await ask(server.url, method, `/~acme${path}`, body)
  if (reply === null || reply.status >= 400) throw new Error(`${method} ${path}: ${JSON.stringify(reply)}`)
  return reply.body
}

async function until(isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + PATIENCE; !isSo() && Date.now() < end; ) await pause(5)
}

if (import.meta.main) {
  const { host, on, rounds, seed } = givenRounds()
  const began = Date.now()
  const tell = ({ rounds: done, acknowledged, deliveries, between, faults }: AgentEventsReport) => {
    if (done % 25 === 0)
      process.stdout.write(
        `${done} rounds: ${acknowledged} writes, ${deliveries} deliveries, ${between} kills between, ${faults.length} faults\n`,
      )
  }
  const report = await on((start) => crashAgentEvents(rounds, seed, tell, start))
  const seconds = Math.round((Date.now() - began) / 1_000)
  process.stdout.write(`${JSON.stringify({ host, ...report, seconds }, null, 2)}\n`)
  process.exitCode = report.faults.length === 0 ? 0 : 1
}
