import { mkdirSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { isoOf } from '@tildebase/nouns'
import { Gateway } from '../doors/gateway.ts'
import type { HttpResponse } from '../doors/http.ts'
import { identityPages } from '../doors/identity/pages/pages.ts'
import { refusal } from '../doors/respond.ts'
import { targetOf } from '../doors/target.ts'
import type { TenantCall } from '../doors/tenant-call.ts'
import { scheduler } from '../doors/turns.ts'
import { operatorPages } from '../host/operator.ts'
import { demandReading, publicPage } from '../host/pages.ts'
import { hasTypes, type Program } from '../host/program.ts'
import { loadProgram, mcpHosts, type Settings } from '../host/settings/settings.ts'
import type { TenantHost } from '../host/tenant-host.ts'
import type { ClusterHost } from './cluster-host.ts'
import { blobStores, contentRoot } from './files/blob-stores.ts'
import { removeUnfinished } from './files/folder-store.ts'
import { requestIds } from './http/request-ids.ts'
import { createAdmission } from './limits/admission.ts'
import { BodyMemory } from './limits/bodies.ts'
import { log, report } from './log.ts'
import type { AdminTask } from './operator/admin-tasks.ts'
import { nodeOperator, verify } from './operator/operator.ts'
import { OperatorJournal } from './operator/operator-journal.ts'
import { setAside } from './operator/repair.ts'
import type { AdminDeps } from './operator/restore.ts'
import { SCRATCH, Scratch } from './operator/scratch.ts'
import { Scrub } from './operator/scrub.ts'
import { TaskBoard } from './operator/task-board.ts'
import { MAIL_ADDRESSES, MailAddresses, type MailDirectory } from './outbound/mail-addresses.ts'
import { ServiceMailbox } from './outbound/service-mailbox.ts'
import { consolePages } from './pages/console.ts'
import { docsPage } from './pages/docs.ts'
import { ProofPages } from './pages/proof-pages.ts'
import { operatorKey, operatorTest, secretKey } from './secrets/keys.ts'
import { hasPasswords } from './secrets/passwords.ts'
import { SigningKeyFile } from './secrets/signing-key-file.ts'
import { TenantFiles } from './sqlite/files.ts'
import { Alarms } from './tenants/alarms.ts'
import { localTenants } from './tenants/local.ts'
import { Restoring } from './tenants/restoring.ts'
import { FileThread } from './threads/whole-files/thread.ts'
import { WorkerPool } from './threads/worker-pool.ts'
import { HostObserver } from './watch/observer.ts'
import { Refusals } from './watch/refusals.ts'
import type { Stats } from './watch/stats.ts'

/** How long a start looks for types of tenants that contradict the program. */
const CONTRADICTIONS_MS = 2_000

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
  /** Closes every file. */
  close(): Promise<void>
}

const { PRIORITY_BELOW_NORMAL } = constants.priority
const RESTORE_IDLE_MS = 60_000

/** Opens the service: its data folder, its tenants, its gateway. */
export async function openService(given: Settings, cluster?: ClusterHost): Promise<Service> {
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

  const book = (slug: string, at: number | null): void => alarms.book(slug, at)
  const setAlarm = (slug: string, at: number | null) => alarms.bookSafely(slug, at)
  const mailDirectory = mailDirectoryOf(settings, files, cluster)
  const claimAddresses = (slug: string, addresses: readonly string[]) => mailDirectory?.claim(slug, addresses) ?? []
  /** A key that one tenant names for another is admitted as the key of a request is. */
  const readOther = async (call: TenantCall): Promise<HttpResponse> => {
    const { slug, sender, requestId } = call
    try {
      if (sender.kind === 'secret') await admission.admitKey(slug, sender.secret, sender.address ?? '')
    } catch (reason) {
      return refusal(reason, requestId, report)
    }
    const answer = await anywhere.handle(call)
    if (answer.status === 401 && sender.kind === 'secret') admission.refusedKey(slug, sender.secret)
    return answer
  }
  const pool =
    settings.workers > 0
      ? new WorkerPool(settings, {
          book: cluster?.booking(book) ?? book,
          onQuarantine: (slug, until) => journal.record('quarantine', slug, { until: isoOf(until) }),
          host: { readOther, setAlarm, claimAddresses },
          gate: cluster?.gate,
        })
      : null
  const thread = { baseUrl: () => baseUrl, book, setAlarm, claimAddresses, readOther }
  /** Where the first write creates a tenant, reads before it find an empty one. Its folder is never made. */
  const emptyTenants = () =>
    settings.createTenants === 'write'
      ? localTenants(settings, program, new TenantFiles(join(settings.data, 'empty')), thread)
      : null
  files.prepare()
  await removeUnfinished(contentRoot(settings.data))
  if (hasTypes(program) && !cluster) await reportContradictions(files, program)
  const alarms = new Alarms(join(settings.data, 'alarms.db'), (slug) => tenants.wake(slug))
  // Without its file it is not known which tenants have work to do.
  if (alarms.isNew && !cluster) alarms.bookAll(await files.allSlugs(), Date.now())
  const journal = new OperatorJournal(join(settings.data, 'operator.db'))
  await pool?.start()
  const tasks = new TaskBoard()
  const ownTasks = async () => [...tasks.list(), ...(await tenants.stats()).longWrites]
  const tenants: TenantHost<AdminTask, Stats> =
    cluster && pool
      ? await cluster.join({ pool, files, data: settings.data, wakeAt: book, empty: emptyTenants(), ownTasks })
      : (pool ?? localTenants(settings, program, files, thread))
  /** For calls of the host itself: the tenant may be on another node. */
  const anywhere = cluster ?? tenants
  const observer = new HostObserver(settings)
  const restoring = new Restoring(join(settings.data, 'restoring'))
  const fileThread = new FileThread(settings, settings.secretKey)
  // Requests come first, but someone waits for a restore. The next slice may be long in coming.
  const restoreThread = new FileThread(settings, settings.secretKey, PRIORITY_BELOW_NORMAL, RESTORE_IDLE_MS)
  const admin: AdminDeps = {
    files,
    scratch: new Scratch(join(settings.data, SCRATCH)),
    journal,
    tasks,
    allTasks: async () => [...(await ownTasks()), ...((await cluster?.tasks()) ?? [])],
    restoring,
    runTask: (slug, task) => tenants.task(slug, task),
    fileThread,
    restoreThread,
    blobs: blobStores(settings),
    tenantLimit: settings.tenantLimit,
    isQuarantined: (slug) => pool?.isQuarantined(slug) ?? false,
    release: (slug) => pool?.release(slug) ?? false,
    cancelAlarm: (slug) => alarms.book(slug, null),
    rotateKey: () => signingKeys.rotate(),
    wake: (slug) => alarms.book(slug, Date.now()),
    damageOf: (slug) => scrub?.damageOf(slug) ?? null,
    forgetDamage: (slug) => scrub?.forget(slug),
    damaged: cluster ? null : join(settings.data, 'damaged'),
  }
  const scrub =
    settings.scrub === 0
      ? null
      : new Scrub({
          path: join(settings.data, 'scrub.db'),
          every: settings.scrub,
          slugs: () => files.allSlugs(),
          verify: async (slug) => (await verify(slug, admin)).faults[0]?.message ?? null,
          // The files of a cluster are copies of its log.
          ...(cluster && { repair: (slug) => setAside(slug, admin) }),
          record: (action, slug, facts) => journal.record(action, slug, facts),
        })
  const operatorPage = operatorPages(nodeOperator(admin))
  const proof = new ProofPages(settings, signingKeys, () => baseUrl)
  const pages = consolePages()
  const refusals = new Refusals()
  const newRequestId = requestIds()
  const bodyMemory = new BodyMemory(settings.bodyMemory, settings.bodyTimeout, refusals)
  const admission = createAdmission({
    tenants,
    exists: (slug) => cluster?.exists(slug) ?? files.has(slug),
    restoring,
    bounds: settings,
    signupLimit: settings.signupLimit,
    refusals,
  })
  // Workers have their own queue.
  const inTurn = (call: TenantCall) => scheduler.inTurn('request', call.slug, () => tenants.handle(call))
  const mailbox = serviceMailbox(settings, mailDirectory, async (slug, source) => {
    const path = `/~${slug}/inbox/email`
    const request = { ...OWN_REQUEST, path, body: source }
    const target = targetOf(request.scheme, request.host, path, '')
    const call = { slug, request, target, sender: { kind: 'operator' }, requestId: newRequestId() } as const
    return (await anywhere.handle(call)).status
  })
  const gateway = new Gateway({
    tenants: pool ? tenants : { handle: inTurn, verify: (slug, secret) => tenants.verify(slug, secret) },
    signup: settings.signup,
    admission,
    hostSuffix: settings.hostSuffix,
    mcpHosts: () => mcpHosts(settings),
    home: '/console',
    takesBody: (request, segments) => proof.takesBody(request, segments),
    pages: identityPages({ baseUrl: settings.baseUrl, passwords: hasPasswords, oidc: settings.oidc !== null }),
    isOperator: operatorTest(rootKey.key),
    requestId: newRequestId,
    report,
    observer,
    outside: async (request, segments, sender, requestId) => {
      if (segments[0] === 'operator') {
        const ofCluster = await cluster?.operatorPage(request, segments, sender)
        if (ofCluster) return ofCluster
        const answer = await operatorPage(request, segments, sender, requestId)
        // A tenant that was restored knows keys again.
        if (request.method !== 'GET' && segments[2] !== undefined) admission.wrote(segments[2])
        return answer
      }
      if (segments.join('/') === 'metrics') {
        demandReading(request.method)
        return numbersPage(
          observer.numbers.page(await tenants.stats(), refusals.counts, bodyMemory.total, scrub?.damaged ?? 0) +
            (cluster?.metrics() ?? ''),
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
      mailbox?.start()
      scrub?.start()
      for (const slug of files.interrupted()) tenants.wake(slug).catch((reason) => report(reason, `wake ${slug}`))
    },
    async rest() {
      stopping = true
      alarms.silence()
      await mailbox?.stop()
      await tenants.rest()
    },
    async endStreams() {
      alarms.silence()
      await tenants.rest()
    },
    async close() {
      await mailbox?.stop()
      await scrub?.close()
      await tenants.close()
      await mailDirectory?.close()
      await cluster?.leave()
      await fileThread.close()
      await restoreThread.close()
      await observer.close()
      alarms.close()
      journal.close()
      proof.close()
    },
  }
}

/** A message of the mailbox of the service, as a request to a tenant. */
const OWN_REQUEST = {
  method: 'POST',
  scheme: 'http',
  host: 'localhost',
  query: '',
  headers: { 'content-type': 'message/rfc822' },
} as const

/** Who receives at the mailbox of the service; null where it has none. */
function mailDirectoryOf(
  settings: Settings,
  files: TenantFiles,
  cluster: ClusterHost | undefined,
): MailDirectory | null {
  if (settings.imap === null) return null
  return cluster?.mailDirectory() ?? new MailAddresses(join(settings.data, MAIL_ADDRESSES), (slug) => files.has(slug))
}

/** The mailbox of the service, or null. */
function serviceMailbox(
  { imap, mailboxInterval: interval, webhooksInsecure: insecure }: Settings,
  directory: MailDirectory | null,
  deliver: (slug: string, source: Uint8Array) => Promise<number>,
): ServiceMailbox | null {
  return imap === null || !directory ? null : new ServiceMailbox({ url: imap, interval, insecure, directory, deliver })
}

/** Says at the start which tenants have types that the program contradicts, and entities that do not fit it. */
async function reportContradictions(files: TenantFiles, { nouns }: Program): Promise<void> {
  for (const [tenant, one] of await files.contradictions(nouns, CONTRADICTIONS_MS)) {
    const { type, message: reason } = one
    const text =
      'count' in one
        ? `The type ${type} in --config does not fit entities of the tenant ${tenant}: ${one.count}. Migrate them: tilde schema rename, retype.`
        : `The type ${type} in --config contradicts the one of the tenant ${tenant}, which keeps its own.`
    log('error', text, { reason })
  }
}

function numbersPage(text: string): HttpResponse {
  return { status: 200, headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }, body: text }
}
