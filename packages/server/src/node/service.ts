import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { isoOf } from '@tildebase/nouns'
import { Gateway } from '../doors/gateway.ts'
import type { HttpResponse } from '../doors/http.ts'
import { identityPage } from '../doors/identity/pages.ts'
import { mergingForks } from '../host/fork-merge.ts'
import { operatorPage } from '../host/operator.ts'
import { demandReading, publicPage } from '../host/pages.ts'
import { loadProgram, mcpHosts, type Settings } from '../host/settings.ts'
import type { ClusterHost, TenantRunner } from './cluster-host.ts'
import { Departure, type OpenTenants } from './handover/departure.ts'
import type { Forward } from './handover/forward.ts'
import type { JsonLines } from './handover/json-lines.ts'
import type { FromSuccessor } from './handover/messages.ts'
import type { Predecessor } from './handover/predecessor.ts'
import { requestIds } from './http/request-ids.ts'
import { createAdmission } from './limits/admission.ts'
import { BodyMemory } from './limits/body-memory.ts'
import { BoundedTenants } from './limits/bounded-tenants.ts'
import { report } from './log.ts'
import { HostRecords } from './operator/host-records.ts'
import { operatorActions } from './operator/operator.ts'
import { SCRATCH, Scratch } from './operator/scratch.ts'
import { TaskBoard } from './operator/task-board.ts'
import { consolePages } from './pages/console.ts'
import { docsPage } from './pages/docs.ts'
import { ProofPages } from './pages/proof-pages.ts'
import { operatorKey, operatorTest, secretKey } from './secrets/keys.ts'
import { hasPasswords } from './secrets/passwords.ts'
import { SigningKeyFile } from './secrets/signing-key-file.ts'
import { TenantFiles } from './sqlite/files.ts'
import { localTenants } from './tenants/local.ts'
import { Restoring } from './tenants/restoring.ts'
import { tenantsInTurns } from './tenants/tenants-in-turns.ts'
import { FileThread } from './threads/whole-files/thread.ts'
import { WorkerPool } from './threads/worker-pool.ts'
import { HostObserver } from './watch/observer.ts'
import { Refusals } from './watch/refusals.ts'

/** The whole service on a data folder, without a socket. */
export interface Service {
  readonly gateway: Gateway
  readonly operator: ReturnType<typeof operatorKey>
  readonly isStopping: () => boolean
  readonly refusals: Refusals
  readonly bodyMemory: BodyMemory
  /** Says under which address clients reach the service, and wakes what is due or was interrupted. */
  begin(baseUrl: string): void
  /** Takes nothing new and ends the streams. */
  rest(): Promise<void>
  /** Ends the streams: their clients connect again. */
  endStreams(): Promise<void>
  /** Hands everything to another process, which `forward` passes requests on to. */
  handOver(line: JsonLines<FromSuccessor>, forward: Forward): Promise<void>
  /** Closes every file. */
  close(): Promise<void>
}

/** What the service begins beside. */
interface Surroundings {
  readonly cluster?: ClusterHost | undefined
  /** The process whose place this one takes. */
  readonly predecessor?: Predecessor | null
}

/** Opens the service: its data folder, its tenants, its gateway. A predecessor is asked to leave when this one is ready. */
export async function openService(
  given: Settings,
  { cluster, predecessor = null }: Surroundings = {},
): Promise<Service> {
  // Before anything is made: a mistake in the file is reported in one line, where a thread could only die of it.
  const program = await loadProgram(given.config)
  mkdirSync(given.data, { recursive: true, mode: 0o700 })
  const rootKey = operatorKey(given.data, given.rootKey)
  const settings = { ...given, secretKey: secretKey(given.data, given.secretKey) }
  const files = new TenantFiles(settings.data)
  const signingKeys = new SigningKeyFile(settings)
  await signingKeys.prepare()
  let baseUrl = settings.baseUrl ?? ''
  let stopping = false

  let records: HostRecords
  const book = (slug: string, at: number | null): void => records.alarms.book(slug, at)
  const quarantined = (slug: string, until: number): void =>
    records.journal.record('quarantine', slug, { until: isoOf(until) })
  const pool =
    settings.workers > 0 ? new WorkerPool(settings, cluster?.booking(book) ?? book, quarantined, cluster?.gate) : null
  const threads = pool ?? localTenants(settings, program, files, { baseUrl: () => baseUrl, book })
  /** Where the first write creates a tenant, reads before it find an empty one. Its folder is never made. */
  const emptyTenants = () =>
    settings.createTenants === 'write'
      ? localTenants(settings, program, new TenantFiles(join(settings.data, 'empty')), { baseUrl: () => baseUrl, book })
      : null
  const openRecords = () => {
    files.prepare()
    return new HostRecords(settings.data, (slug) => tenants.wake(slug))
  }
  if (predecessor) {
    // What takes long comes before the other process is asked to leave.
    await pool?.start()
    await predecessor.takeOver()
    try {
      records = openRecords()
    } catch (reason) {
      await pool?.closeAll()
      throw reason
    }
  } else {
    records = openRecords()
    await pool?.start()
  }
  const { alarms, journal } = records
  const tenants: TenantRunner =
    cluster && pool
      ? await cluster.join({ pool, files, data: settings.data, wakeAt: book, empty: emptyTenants() })
      : (predecessor?.guard(threads) ?? threads)
  const observer = new HostObserver(settings)
  const restoring = new Restoring(join(settings.data, 'restoring'))
  const departure = new Departure({
    tenants: handedOver(tenants, threads),
    underWay: (slug) => bounded.underWay(slug) + (restoring.isBusy(slug) ? 1 : 0),
  })
  const own = departure.guard()
  const fileThread = new FileThread(settings, settings.secretKey)
  const actions = operatorActions({
    files,
    scratch: new Scratch(join(settings.data, SCRATCH), predecessor !== null),
    journal,
    tasks: new TaskBoard(),
    restoring,
    runTask: own.runTask,
    fileThread,
    isQuarantined: (slug) => pool?.isQuarantined(slug) ?? false,
    release: (slug) => pool?.release(slug) ?? false,
    cancelAlarm: (slug) => alarms.book(slug, null),
    rotateKey: () => signingKeys.rotate(),
    wake: (slug) => alarms.book(slug, Date.now()),
  })
  const proof = new ProofPages(settings, signingKeys, () => baseUrl)
  const pages = consolePages()
  const refusals = new Refusals()
  const bodyMemory = new BodyMemory(settings.bodyMemory, refusals)
  const guarded = restoring.guard(own)
  const bounded = new BoundedTenants(pool ? guarded : tenantsInTurns(guarded), settings, refusals)
  const exists = (slug: string) => (cluster?.exists(slug) ?? files.has(slug)) || restoring.has(slug)
  const admission = createAdmission({ tenants: guarded, exists, signupLimit: settings.signupLimit, refusals })
  const gateway = new Gateway({
    tenants: mergingForks(bounded, settings.bodyLimit),
    signup: settings.signup,
    admission,
    hostSuffix: settings.hostSuffix,
    mcpHosts: () => mcpHosts(settings),
    home: '/console',
    takesBody: (request, segments) => proof.takesBody(request, segments),
    pages: (ask, place) =>
      identityPage(ask, place, { baseUrl: settings.baseUrl, passwords: hasPasswords, oidc: settings.oidc !== null }),
    isOperator: operatorTest(rootKey.key),
    requestId: requestIds(),
    report,
    observer,
    outside: async (request, segments, sender, requestId) => {
      if (segments[0] === 'operator') {
        const ofCluster = await cluster?.operatorPage(request, segments, sender)
        if (ofCluster) return ofCluster
        const answer = await operatorPage(request, segments, sender, requestId, actions)
        // A tenant that was restored knows keys again.
        if (request.method !== 'GET' && segments[2] !== undefined) admission.wrote(segments[2])
        return answer
      }
      if (segments.join('/') === 'metrics') {
        demandReading(request.method)
        return numbersPage(
          observer.numbers.page(await tenants.stats(), refusals.counts, bodyMemory.total) + (cluster?.metrics() ?? ''),
        )
      }
      const known = await proof.answer(request, segments)
      if (known) return known
      return (
        docsPage(request, segments) ??
        pages(request, segments) ??
        publicPage(request, segments, stopping || cluster?.isDraining === true)
      )
    },
  })
  return {
    gateway,
    operator: rootKey,
    isStopping: () => stopping,
    refusals,
    bodyMemory,
    begin(url) {
      if (baseUrl === '') baseUrl = url
      pool?.begin(baseUrl)
      alarms.start()
      const wakeInterrupted = () => {
        for (const slug of files.interrupted()) tenants.wake(slug).catch((reason) => report(reason, `wake ${slug}`))
      }
      if (!predecessor) return wakeInterrupted()
      const ended = () => {
        restoring.look()
        wakeInterrupted()
      }
      predecessor.listen({ book, record: (action, slug, facts) => journal.record(action, slug, facts), ended })
    },
    async rest() {
      stopping = true
      await tenants.rest()
    },
    endStreams: () => tenants.rest(),
    async handOver(line, forward) {
      records.handOver(line)
      proof.close()
      line.send({ do: 'yours' })
      line.listen(({ slug }) => departure.want(slug))
      await departure.run(forward, (slug) => line.send({ do: 'released', slug }))
      line.send({ do: 'ended' })
    },
    async close() {
      await tenants.closeAll()
      await cluster?.leave()
      await fileThread.close()
      await observer.close()
      records.close()
      proof.close()
    },
  }
}

/** The tenants as requests reach them, and as they are closed. */
function handedOver(tenants: Pick<OpenTenants, 'answer' | 'verify' | 'runTask'>, threads: OpenTenants): OpenTenants {
  return {
    answer: (...call) => tenants.answer(...call),
    verify: (...call) => tenants.verify(...call),
    runTask: (...call) => tenants.runTask(...call),
    openSlugs: () => threads.openSlugs(),
    isOpen: (slug) => threads.isOpen(slug),
    closeIdle: (slug) => threads.closeIdle(slug),
    closeNow: (slug) => threads.closeNow(slug),
    rest: () => threads.rest(),
  }
}

function numbersPage(text: string): HttpResponse {
  return { status: 200, headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }, body: text }
}
