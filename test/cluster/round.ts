import { setTimeout as pause } from 'node:timers/promises'
import type { Chance } from '../chance.ts'
import type { Fault } from './faults/fault.ts'
import type { Violation } from './history/history.ts'
import { refuteLinearizable } from './history/linearizable.ts'
import { countUnacknowledged, judgeLog } from './history/log.ts'
import type { Cluster } from './machines/cluster.ts'
import { createTargets, runCreator, runEditor, runFollower, type Target } from './workload/clients.ts'
import { readLog } from './workload/log.ts'
import { Recorder } from './workload/recorder.ts'
import { insist } from './workload/request.ts'

/** Entities of a tenant that all its clients read and write. */
const TARGETS = 3
/** Milliseconds within which every tenant must acknowledge writes again after everything was mended. */
const RECOVERY = 60_000

/** A tenant of the test, with the number of the last event that was judged. */
export interface TestTenant {
  readonly slug: string
  cursor: number
}

/** What clients do in one round. */
export interface Workload {
  /** Begins the names of all that is written. */
  readonly name: string
  /** Multiplies the pauses of clients. */
  readonly pace: number
}

/** What came of one round. */
export interface RoundReport {
  readonly fault: string
  readonly acknowledged: number
  readonly unknown: number
  /** Writes without an answer that are in the log all the same. */
  readonly unacknowledged: number
  /** The longest time in milliseconds without an acknowledged write in any tenant. */
  readonly gap: number
  readonly violations: readonly Violation[]
  readonly strange: Readonly<Record<string, number>>
  readonly notes: readonly string[]
  /** How many milliseconds each part of the round took. */
  readonly parts: Readonly<Record<string, number>>
}

/** Clients write to all tenants, one fault happens, everything is mended, and the histories are judged. */
export async function runRound(
  cluster: Cluster,
  tenants: readonly TestTenant[],
  fault: Fault,
  chance: Chance,
  work: Workload,
): Promise<RoundReport> {
  const notes: string[] = []
  const parts: Record<string, number> = {}
  let since = performance.now()
  const done = (part: string) => {
    const now = performance.now()
    parts[part] = Math.round(now - since)
    since = now
  }
  let isCalm = false
  const loads = await Promise.all(
    tenants.map((tenant) => startLoad(cluster.urls, tenant, chance.fork(), work, () => isCalm)),
  )
  const violations: Violation[] = []
  await pause(chance.between(100, 700))
  done('start')
  await fault.run({
    cluster,
    chance: chance.fork(),
    tenant: chance.pick(tenants).slug,
    note: (line) => notes.push(line),
    violate: (violation) => violations.push(violation),
  })
  done('fault')
  isCalm = true
  await cluster.restore((line) => notes.push(line))
  done('repair')
  isCalm = false
  const mended = performance.now()
  const stopped = new Set<TestTenant>()
  for (const { tenant, recorder } of loads) {
    if (await hasAnswered(recorder, mended)) continue
    stopped.add(tenant)
    violations.push({ kind: 'stopped', message: `${tenant.slug} acknowledges nothing after everything was mended` })
  }
  await pause(200)
  const ended = performance.now()
  for (const load of loads) load.stop()
  for (const load of loads) await load.ended
  done('end')
  let unacknowledged = 0
  const judged = loads
    .filter(({ tenant }) => !stopped.has(tenant))
    .map((load) => ({ load, urls: chance.shuffle(cluster.urls) }))
  const judgeLoad = async ({ load: { tenant, recorder, targets }, urls }: (typeof judged)[number]) => {
    const log = await readLog(urls, tenant.slug, tenant.cursor)
    violations.push(...judgeLog(log, recorder.operations, recorder.observations, tenant.cursor).map(inTenant(tenant)))
    violations.push(...judgeTargets(recorder, targets).map(inTenant(tenant)))
    unacknowledged += countUnacknowledged(log, recorder.operations)
    tenant.cursor = log.at(-1)?.seq ?? tenant.cursor
  }
  await Promise.all(judged.map(judgeLoad))
  if (violations.length === 0) violations.push(...(await verify(cluster.urls, chance.pick(tenants))))
  done('check')
  const recorders = loads.map(({ recorder }) => recorder)
  for (const [reason, count] of Object.entries(addUp(recorders.map(({ reasons }) => reasons))))
    notes.push(`${count} × ${reason}`)
  const operations = recorders.flatMap((recorder) => recorder.operations)
  return {
    fault: fault.name,
    acknowledged: recorders.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0),
    unknown: operations.filter(({ outcome }) => outcome === 'unknown').length,
    unacknowledged,
    gap: Math.max(...loads.map(({ recorder, began }) => longestGap([began, ...recorder.acknowledged, ended]))),
    violations,
    strange: addUp(recorders.map(({ strange }) => strange)),
    notes,
    parts,
  }
}

/** A round that ended before its histories could be judged. */
export function failedRound({ name }: Fault, message: string): RoundReport {
  const violations = [{ kind: 'stopped', message }] as const
  const nothing = { acknowledged: 0, unknown: 0, unacknowledged: 0, gap: 0, strange: {}, notes: [], parts: {} }
  return { fault: name, violations, ...nothing }
}

/** Recomputes the chain, the state and the indexes of a tenant. */
export async function verify(urls: readonly string[], { slug }: TestTenant): Promise<Violation[]> {
  const verdict = await insist(urls, 'GET', `/operator/tenants/${slug}/verify`)
  if (verdict.ok) return []
  return verdict.faults.map((fault: any) => ({ kind: 'verify', message: `${slug}: ${fault.seq}: ${fault.message}` }))
}

interface Load {
  readonly tenant: TestTenant
  readonly recorder: Recorder
  readonly targets: readonly Target[]
  readonly began: number
  readonly ended: Promise<unknown>
  stop(): void
}

/**
 * One editor per node, a creator and a follower. Through one of the nodes nothing is written: an owner that has lost the
 * databases and has nothing to append would continue answering reads, if its lease did not end.
 */
async function startLoad(
  urls: readonly string[],
  tenant: TestTenant,
  chance: Chance,
  work: Workload,
  isCalm: () => boolean,
): Promise<Load> {
  const recorder = new Recorder()
  const quiet = chance.pick(urls)
  const end = new AbortController()
  const options = (role: string) => ({
    name: `${work.name}-${tenant.slug}-${role}`,
    pace: work.pace,
    tenant: tenant.slug,
    recorder,
    chance: chance.fork(),
    isOver: () => end.signal.aborted,
    isCalm,
    end: end.signal,
  })
  const targets = await createTargets(urls, options('setup'), TARGETS)
  const began = performance.now()
  const ended = Promise.all([
    ...urls.map((url, index) => runEditor(url, targets, url !== quiet, options(`editor${index + 1}`))),
    runCreator(
      urls.filter((url) => url !== quiet),
      options('creator'),
    ),
    runFollower(urls, tenant.cursor, options('follower')),
  ])
  return { tenant, recorder, targets, began, ended, stop: () => end.abort() }
}

async function hasAnswered(recorder: Recorder, since: number): Promise<boolean> {
  const until = performance.now() + RECOVERY
  while (performance.now() < until) {
    if ((recorder.acknowledged.at(-1) ?? 0) > since) return true
    await pause(50)
  }
  return false
}

function judgeTargets(recorder: Recorder, targets: readonly Target[]): Violation[] {
  return targets.flatMap(({ id, value }): Violation[] => {
    const history = recorder.operations.filter(({ entity, action }) => entity === id && action.kind !== 'create')
    const obstacle = refuteLinearizable({ version: 1, value }, history)
    if (obstacle === null) return []
    return [{ kind: 'stale', message: `no order of the history of ${id} explains ${JSON.stringify(obstacle)}` }]
  })
}

function inTenant({ slug }: TestTenant): (violation: Violation) => Violation {
  return ({ kind, message }) => ({ kind, message: `${slug}: ${message}` })
}

function addUp(counts: readonly ReadonlyMap<string, number>[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const [name, count] of counts.flatMap((one) => [...one])) sums[name] = (sums[name] ?? 0) + count
  return sums
}

function longestGap(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted.slice(1).reduce((longest, time, index) => Math.max(longest, time - sorted[index]!), 0)
}
