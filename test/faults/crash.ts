import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Chance } from '../chance.ts'
import { Deliveries } from './deliveries.ts'
import { givenRounds } from './given.ts'
import { ask, type Start, startServer, WEBHOOKS } from './server.ts'
import { Writer } from './writer.ts'

export interface CrashReport {
  readonly rounds: number
  readonly seed: number
  readonly acknowledged: number
  readonly unanswered: number
  readonly events: number
  /** Events that a webhook received, and how many of them more than once. */
  readonly delivered: number
  readonly repeated: number
  readonly faults: readonly string[]
}

/** Writers over HTTP, kill -9 at random moments, restart, and a check of everything that was acknowledged and delivered. */
export async function crash(
  rounds: number,
  seed: number,
  writers = 8,
  flags: readonly string[] = [],
  tell: (report: CrashReport) => void = () => undefined,
  start: Start = (data) => startServer(data, WEBHOOKS, flags),
): Promise<CrashReport> {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-crash-'))
  const random = new Chance(seed)
  const chance = () => random.next()
  const clients = Array.from({ length: writers }, (_, i) => new Writer(`w${i}`))
  const faults: string[] = []
  let unanswered = 0
  let events = 0
  let round = 0
  const written = () => clients.reduce((sum, client) => sum + client.acknowledged, 0)
  let server = await start(data)
  const deliveries = await Deliveries.start(server.url, random.fork())
  const report = (): CrashReport => {
    return { rounds: round, seed, acknowledged: written(), unanswered, events, ...deliveries.counts, faults }
  }
  try {
    while (round < rounds && faults.length === 0) {
      let isOver = false
      const running = Promise.all(clients.map((client) => client.run(server.url, chance)))
      running.then(
        () => (isOver = true),
        () => (isOver = true),
      )
      // By the count of writes, so that a slow machine is killed in the midst of as much work as a fast one.
      const enough = written() + 40 + chance() * 80
      while (written() < enough && !isOver) await pause(1)
      // Every other time while a delivery is in flight.
      await (round % 2 === 0 ? deliveries.next() : pause(chance() * 20))
      await server.kill()
      deliveries.killed()
      await running
      unanswered += clients.reduce((sum, { unanswered: list }) => sum + list.length, 0)

      server = await start(data)
      await Promise.all(clients.map((client) => client.repeat(server.url)))
      faults.push(...(await Promise.all(clients.map((client) => client.check(server.url)))).flat())
      const { body } = (await ask(server.url, 'GET', '/operator/tenants/acme/verify'))!
      if (!body.ok) faults.push(...body.faults.map((fault: any) => `${fault.seq}: ${fault.message}`))
      events = body.events
      round++
      tell(report())
    }
    faults.push(...(await deliveries.check(server.url)))
  } finally {
    await server.kill()
    await deliveries.stop()
    rmSync(data, { recursive: true, force: true })
  }
  return report()
}

if (import.meta.main) {
  const { host, on, rounds, seed } = givenRounds()
  const began = Date.now()
  const tell = ({ rounds: done, acknowledged, unanswered, faults }: CrashReport) => {
    if (done % 25 === 0)
      process.stdout.write(
        `${done} rounds: ${acknowledged} writes acknowledged, ${unanswered} unanswered, ${faults.length} faults\n`,
      )
  }
  const report = await on((start) => crash(rounds, seed, undefined, [], tell, start))
  const seconds = Math.round((Date.now() - began) / 1_000)
  process.stdout.write(`${JSON.stringify({ host, ...report, seconds }, null, 2)}\n`)
  process.exitCode = report.faults.length === 0 ? 0 : 1
}
