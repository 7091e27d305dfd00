import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { givenRounds } from './given.ts'
import { ask, type Server, type Start, startServer } from './server.ts'

export interface AutomationReport {
  readonly rounds: number
  readonly seed: number
  readonly timers: number
  readonly runs: number
  /** Kills that came between due and done. */
  readonly between: number
  readonly faults: readonly string[]
}

const ALARMS = 24
/** Times of a round are spread over so many milliseconds. */
const SPREAD = 240
const PATIENCE = 60_000

const TYPE = { ringAt: 'datetime', ring: { event: 'rang' }, $timers: { ring: { at: 'ringAt', run: 'ring' } } }
const STEPS = [
  { verb: 'create', type: 'Comment', args: { body: 'verb', entityId: '$event.data.$id' } },
  { code: `async (event, $) => (await $.Comment.create({ body: 'code', entityId: event.data.$id })).$id` },
]

/** Timers and workflows, kill -9 between due and done, restart: each verb and each step must have happened once. */
export async function crashAutomation(
  rounds: number,
  seed: number,
  tell: (report: AutomationReport) => void = () => undefined,
  start: Start = startServer,
): Promise<AutomationReport> {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-automation-'))
  const chance = chanceOf(seed)
  const faults: string[] = []
  let server = await start(data)
  let round = 0
  let timers = 0
  let runs = 0
  let between = 0
  const report = (): AutomationReport => ({ rounds: round, seed, timers, runs, between, faults })
  try {
    await demand(server, 'PUT', '/schema/Alarm', TYPE)
    const draft = { name: 'note', triggerEvent: 'Alarm.rang', steps: STEPS }
    const { $id: workflow } = await demand(server, 'POST', '/Workflow', draft)
    await demand(server, 'POST', `/Workflow/${workflow}/activate`)
    while (round < rounds && faults.length === 0) {
      const { cursor } = await demand(server, 'GET', '/events?limit=1&since=now')
      const ids = await createAlarms(server, chance)
      timers += ids.length
      await pause(chance() * SPREAD * 2)
      await server.kill()
      server = await start(data)
      if (await isOpen(server, cursor, ids)) between++
      const outcome = await settled(server, cursor, ids)
      faults.push(...outcome)
      const { total } = await demand(server, 'GET', `/Workflow/${workflow}/runs?limit=1&status=Succeeded`)
      runs = total
      if (runs !== timers) faults.push(`${timers} alarms rang, ${runs} runs succeeded`)
      const { runCount, successCount, failureCount = 0 } = await demand(server, 'GET', `/Workflow/${workflow}`)
      if (runCount !== runs || successCount !== runs || failureCount !== 0)
        faults.push(`counts are ${runCount}, ${successCount}, ${failureCount} for ${runs} runs`)
      round++
      tell(report())
    }
    const verdict = await ask(server.url, 'GET', '/operator/tenants/acme/verify')
    if (!verdict?.body.ok) faults.push(JSON.stringify(verdict?.body))
  } finally {
    await server.kill()
    rmSync(data, { recursive: true, force: true })
  }
  return report()
}

async function createAlarms(server: Server, chance: () => number): Promise<string[]> {
  const now = Date.now()
  const operations = Array.from({ length: ALARMS }, (_, i) => ({
    id: `a${i}`,
    method: 'POST',
    path: '/Alarm',
    body: { ringAt: new Date(now + chance() * SPREAD).toISOString() },
  }))
  const { results } = await demand(server, 'POST', '/batch', { operations })
  return results.map(({ body }: any) => body.$id)
}

/** How often each alarm rang and was noted, by a verb and by code. */
async function counted(server: Server, after: string, ids: readonly string[]): Promise<Map<string, number[]>> {
  const counts = new Map(ids.map((id) => [id, [0, 0, 0]]))
  for (let cursor = after; ; ) {
    const page = await demand(server, 'GET', `/events?limit=1000&cursor=${cursor}`)
    for (const { type, entityId, data } of page.results) {
      const rang = type === 'Alarm.rang' ? counts.get(entityId) : undefined
      if (rang) rang[0]!++
      const noted = type === 'Comment.created' ? counts.get(data.entityId) : undefined
      if (noted) noted[data.body === 'verb' ? 1 : 2]!++
    }
    if (!page.hasMore) return counts
    cursor = page.cursor
  }
}

async function isOpen(server: Server, after: string, ids: readonly string[]): Promise<boolean> {
  const counts = [...(await counted(server, after, ids)).values()]
  return counts.some((count) => count.includes(0)) && counts.some(([rang]) => rang! > 0)
}

/** Waits until all is done; tells what was done more or less than once. */
async function settled(server: Server, after: string, ids: readonly string[]): Promise<string[]> {
  const until = Date.now() + PATIENCE
  for (;;) {
    const counts = [...(await counted(server, after, ids))]
    const open = counts.filter(([, count]) => count.includes(0))
    const twice = counts.filter(([, count]) => count.some((one) => one > 1))
    if (twice.length > 0) return twice.map(([id, count]) => `${id} happened ${count.join(', ')} times`)
    if (open.length === 0) return (await haveEnded(server)) ? [] : ['runs did not end']
    if (Date.now() > until) return open.map(([id, count]) => `${id} happened ${count.join(', ')} times`)
    await pause(10)
  }
}

/** Waits for the ends of the runs, which come after their last step. */
async function haveEnded(server: Server): Promise<boolean> {
  const { results } = await demand(server, 'GET', '/Workflow')
  const [{ $id }] = results
  for (const until = Date.now() + PATIENCE; Date.now() < until; await pause(10)) {
    const states = ['Waiting', 'Running'].map((status) =>
      demand(server, 'GET', `/Workflow/${$id}/runs?limit=1&status=${status}`),
    )
    if ((await Promise.all(states)).every(({ total }) => total === 0)) return true
  }
  return false
}

export async function demand(server: Server, method: string, path: string, body?: unknown): Promise<any> {
  const reply = await ask(server.url, method, `/~acme${path}`, body)
  if (reply === null || reply.status >= 400) throw new Error(`${method} ${path}: ${JSON.stringify(reply)}`)
  return reply.body
}

/** Chance that a seed repeats. */
export function chanceOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
}

if (import.meta.main) {
  const { host, on, rounds, seed } = givenRounds()
  const began = Date.now()
  const tell = ({ rounds: done, timers, between, faults }: AutomationReport) => {
    if (done % 25 === 0)
      process.stdout.write(`${done} rounds: ${timers} timers, ${between} kills between, ${faults.length} faults\n`)
  }
  const report = await on((start) => crashAutomation(rounds, seed, tell, start))
  const seconds = Math.round((Date.now() - began) / 1_000)
  process.stdout.write(`${JSON.stringify({ host, ...report, seconds }, null, 2)}\n`)
  process.exitCode = report.faults.length === 0 ? 0 : 1
}
