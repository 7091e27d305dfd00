import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openSmtp, type TestSmtp } from '../mail/smtp.ts'
import { Receiver } from '../receiver.ts'
import { chanceOf, demand } from './automation.ts'
import { givenRounds } from './given.ts'
import { KEY, type Server, startServer, WEBHOOKS } from './server.ts'

export interface EffectsReport {
  readonly rounds: number
  readonly seed: number
  /** Runs with every kind of step, and their outgoing e-mails. */
  readonly runs: number
  readonly mailsIn: number
  /** Requests that came, and how many of them repeated an earlier one. */
  readonly requests: number
  readonly repeated: number
  /** Kills that found open runs. */
  readonly between: number
  readonly faults: readonly string[]
}

const ALARMS = 6
const MAILS = 6
const PATIENCE = 60_000
const DESK = 'desk@acme.example'

/** What has to happen once for each alarm: comments by their text, and events. */
const ONCE = ['verb', 'code', 'made', 'undone', 'fallback', 'delivered', 'answered'] as const
/** Requests that come at least once for each alarm, with one key. */
const REQUESTS = ['work', 'broken', 'undo'] as const

type Outcome = { readonly [what in (typeof ONCE)[number]]: number }

function workflows(url: string, agent: string): object[] {
  const note = (body: string) => ({ verb: 'create', type: 'Comment', args: { body, entityId: '$event.entityId' } })
  const request = (path: string) => ({
    method: 'POST',
    url: `${url}/${path}/$event.entityId`,
    body: { at: '$event.id' },
  })
  const waits = [{ wait: '50ms' }, { until: '$event.timestamp + 100ms' }]
  const rang = { waitFor: 'Alarm.rang', filter: { $id: '$event.entityId' } }
  const mail = { to: ['$event.data.mail'], subject: '$event.entityId', body: 'Ring' }
  const code = `async (event, $) => (await $.Comment.create({ body: 'code', entityId: event.entityId })).$id`
  const retryPolicy = { retries: 3, backoff: '100ms' }
  return [
    {
      name: 'all',
      retryPolicy,
      steps: [
        { request: request('work') },
        ...waits,
        rang,
        { ask: { of: 'role:Admin', title: 'Go on?' } },
        { send: mail, if: { 'steps.4.answer': 'Approved' } },
        { verb: 'ask', type: 'Agent', id: agent, args: { message: '$event.entityId' } },
        note('verb'),
        { code },
      ],
    },
    {
      name: 'undone',
      errorHandling: 'Fallback',
      steps: [
        { ...note('made'), undo: note('undone') },
        { request: { ...request('work'), method: 'PUT' }, undo: { request: request('undo') } },
        { request: request('broken') },
        { ...note('fallback'), fallback: true },
      ],
    },
  ].map((one) => ({ ...one, triggerEvent: 'Alarm.created' }))
}

/** The world outside, in this process: what came is kept while the server is killed. */
class Outside {
  readonly keys = new Map<string, Set<string>>()
  requests = 0
  repeated = 0

  constructor(receiver: Receiver) {
    receiver.answer(({ path, headers }, response) => {
      this.requests++
      const key = String(headers['idempotency-key'])
      const known = this.keys.get(path) ?? new Set()
      if (known.has(key)) this.repeated++
      this.keys.set(path, known.add(key))
      const isBroken = path.startsWith('/broken/')
      response.writeHead(isBroken ? 500 : 200, { 'content-type': 'application/json' }).end('{"ok":true}')
    })
  }
}

/** Runs with every kind of step and e-mails in both directions, kill -9, restart: nothing is lost, and nothing happens twice. */
export async function crashEffects(
  rounds: number,
  seed: number,
  tell: (report: EffectsReport) => void = () => undefined,
): Promise<EffectsReport> {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-effects-'))
  const chance = chanceOf(seed)
  const faults: string[] = []
  const [receiver, smtp] = [await Receiver.start(), await openSmtp()]
  const outside = new Outside(receiver)
  const env = { ...WEBHOOKS, TILDE_SMTP_URL: smtp.url, TILDE_SMTP_FROM: DESK }
  const start = () => startServer(data, env)
  let server = await start()
  let [round, runs, mailsIn, between] = [0, 0, 0, 0]
  const report = (): EffectsReport => {
    const { requests, repeated } = outside
    return { rounds: round, seed, runs, mailsIn, requests, repeated, between, faults }
  }
  try {
    await demand(server, 'PUT', '/schema/Alarm', { mail: 'string', ring: { event: 'rang' } })
    await demand(server, 'PUT', '/inbox', { addresses: [DESK], ticket: true })
    const { $id: agent } = await demand(server, 'POST', '/Agent', { name: 'a', endpoint: `${receiver.url}/agent` })
    for (const draft of workflows(new URL(receiver.url).origin, agent)) {
      const { $id } = await demand(server, 'POST', '/Workflow', draft)
      await demand(server, 'POST', `/Workflow/${$id}/activate`)
    }
    const { secret } = await demand(server, 'POST', '/api-keys', { name: 'k', scopes: 'admin:all,approve:own' })
    while (round < rounds && faults.length === 0) {
      const { cursor } = await demand(server, 'GET', '/events?limit=1&since=now')
      const ids = await alarms(server, round)
      const taking = Array.from({ length: MAILS }, (_, i) => take(server, `${seed}-${round}-${i}`))
      // Half of them ring before the kill, the others after it.
      const ringing = ring(server, ids.slice(0, ALARMS / 2)).catch(() => null)
      await pause(chance() * 500)
      await server.kill()
      const taken = await Promise.all(taking)
      await ringing
      server = await start()
      if (!isSettled(await outcomes(server, cursor, ids))) between++
      for (const [i, status] of taken.entries()) {
        if (status === null) await take(server, `${seed}-${round}-${i}`)
      }
      faults.push(...(await settled(server, cursor, ids, secret)))
      faults.push(...(await mailFaults(server, `${seed}-${round}`)), ...requestFaults(outside, ids))
      runs += ids.length * 2
      mailsIn += MAILS
      round++
      tell(report())
    }
    faults.push(...sentFaults(smtp, runs / 2))
    const verdict = await fetch(`${server.url}/operator/tenants/acme/verify`, {
      headers: { authorization: `Bearer ${KEY}` },
    })
    const { ok } = (await verdict.json()) as { ok: boolean }
    if (!ok) faults.push('The log is not intact.')
  } finally {
    await server.kill()
    await Promise.all([receiver.stop(), smtp.close()])
    rmSync(data, { recursive: true, force: true })
  }
  return report()
}

/** Each has an address of its own: automatic messages to one address are bounded. */
async function alarms(server: Server, round: number): Promise<string[]> {
  const operations = Array.from({ length: ALARMS }, (_, i) => ({
    id: `a${i}`,
    method: 'POST',
    path: '/Alarm',
    body: { mail: `a${i}-${round}@example.org` },
  }))
  const { results } = await demand(server, 'POST', '/batch', { operations })
  return results.map(({ body }: any) => body.$id)
}

async function ring(server: Server, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const operations = ids.map((id) => ({ id, method: 'POST', path: `/Alarm/${id}/ring`, body: {} }))
  await demand(server, 'POST', '/batch', { operations })
}

/** Sends a raw message. Its status, or null when no answer came. */
async function take(server: Server, id: string): Promise<number | null> {
  const body = `From: Ada <ada@example.org>\r\nTo: ${DESK}\r\nSubject: ${id}\r\nMessage-ID: <${id}@example.org>\r\n\r\nHelp`
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'message/rfc822' }
  try {
    const response = await fetch(`${server.url}/~acme/inbox/email`, { method: 'POST', headers, body })
    await response.text()
    if (response.status >= 400) throw new TypeError(`The message was refused with ${response.status}.`)
    return response.status
  } catch {
    return null
  }
}

/** How often each thing happened for each alarm. */
async function outcomes(server: Server, after: string, ids: readonly string[]): Promise<Map<string, Outcome>> {
  const none = () => Object.fromEntries(ONCE.map((what) => [what, 0])) as { -readonly [what in keyof Outcome]: number }
  const counts = new Map(ids.map((id) => [id, none()]))
  const questions = new Map<string, string>()
  for (let cursor = after; ; ) {
    const page = await demand(server, 'GET', `/events?limit=1000&cursor=${cursor}`)
    for (const { id, type, data, args } of page.results) {
      if (type === 'Agent.asked') questions.set(id, args.message)
      if (type === 'Comment.created') add(counts.get(data.entityId), data.body)
      if (type === 'Message.delivered') add(counts.get(data.subject), 'delivered')
      if (type === 'Agent.answered') add(counts.get(questions.get(args.call) ?? ''), 'answered')
    }
    if (!page.hasMore) return counts
    cursor = page.cursor
  }
}

function add(counts: { [what: string]: number } | undefined, what: string): void {
  if (counts) counts[what]!++
}

function isSettled(counts: Map<string, Outcome>): boolean {
  return [...counts.values()].every((one) => ONCE.every((what) => one[what] > 0))
}

/** Answers questions until all is done; names what was done more or less than once. */
async function settled(server: Server, after: string, ids: readonly string[], key: string): Promise<string[]> {
  for (const until = Date.now() + PATIENCE; ; await pause(30)) {
    const counts = await outcomes(server, after, ids)
    const wrong = [...counts].filter(([, one]) => ONCE.some((what) => one[what] > 1))
    if (isSettled(counts) && wrong.length === 0) return openRuns(server, until)
    if (wrong.length > 0 || Date.now() > until) {
      return [...counts].map(([id, one]) => `${id}: ${JSON.stringify(one)}`)
    }
    // A run that was not there yet has not heard it ring.
    await ring(
      server,
      [...counts].flatMap(([id, { verb }]) => (verb === 0 ? [id] : [])),
    )
    const { results } = await demand(server, 'GET', '/asks?limit=100')
    for (const { id } of results) {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const body = JSON.stringify({ answer: 'Approved' })
      await fetch(`${server.url}/~acme/asks/${id}/answer`, { method: 'POST', headers, body }).then((one) => one.text())
    }
  }
}

async function openRuns(server: Server, until: number): Promise<string[]> {
  const { results } = await demand(server, 'GET', '/Workflow')
  for (;;) {
    const states = results.flatMap(({ $id }: any) =>
      ['Waiting', 'Running', 'Failed'].map((status) =>
        demand(server, 'GET', `/Workflow/${$id}/runs?limit=1&status=${status}`),
      ),
    )
    const open = (await Promise.all(states)).reduce((sum, { total }) => sum + total, 0)
    if (open === 0) return []
    if (Date.now() > until) return [`${open} runs did not succeed`]
    await pause(30)
  }
}

async function mailFaults(server: Server, prefix: string): Promise<string[]> {
  const filter = encodeURIComponent(JSON.stringify({ direction: 'In' }))
  const { results } = await demand(server, 'GET', `/Message?limit=100&sort=-$createdAt&filter=${filter}`)
  const found = results.map(({ subject }: any) => subject).filter((subject: string) => subject.startsWith(`${prefix}-`))
  const isRight = found.length === MAILS && new Set(found).size === MAILS
  return isRight ? [] : [`of ${MAILS} messages that came in there are: ${found.toSorted().join(', ')}`]
}

function requestFaults({ keys }: Outside, ids: readonly string[]): string[] {
  return ids.flatMap((id) =>
    REQUESTS.flatMap((path) => {
      const seen = keys.get(`/${path}/${id}`)?.size ?? 0
      // Both workflows send to /work.
      return seen === (path === 'work' ? 2 : 1) ? [] : [`/${path}/${id} was called with ${seen} keys`]
    }),
  )
}

/** Every sent message has come, with an id of its own. */
function sentFaults({ delivered }: TestSmtp, count: number): string[] {
  const ids = new Set(delivered.map(({ mail }) => mail.messageId))
  const subjects = new Set(delivered.map(({ mail }) => mail.subject))
  const isRight = ids.size === count && subjects.size === count
  return isRight ? [] : [`${count} messages were sent; ${ids.size} ids and ${subjects.size} subjects came`]
}

if (import.meta.main) {
  const { rounds, seed } = givenRounds()
  const began = Date.now()
  const report = await crashEffects(rounds, seed, ({ rounds: done, runs, repeated, between, faults }) => {
    if (done % 25 !== 0) return
    process.stdout.write(
      `${done} rounds: ${runs} runs, ${repeated} repeated requests, ${between} kills between, ${faults.length} faults\n`,
    )
  })
  const seconds = Math.round((Date.now() - began) / 1_000)
  process.stdout.write(`${JSON.stringify({ ...report, seconds }, null, 2)}\n`)
  process.exitCode = report.faults.length === 0 ? 0 : 1
}
