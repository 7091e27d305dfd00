import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { LAYOUT_VERSION } from '@tildebase/tenant/host'
import { SettingError } from '../host/setting-error.ts'
import type { HttpRequest, HttpResponse, MaybePromise } from '../http.ts'
import type { ClusterHost, TenantRunner } from '../node/cluster-host.ts'
import type { ClusterSettings } from '../node/cluster-settings.ts'
import type { Settings } from '../node/config.ts'
import type { TenantFiles } from '../node/files.ts'
import { log } from '../node/log.ts'
import type { Gate } from '../node/workers/gate.ts'
import type { WorkerPool } from '../node/workers/worker-pool.ts'
import type { Sender } from '../sender.ts'
import { Directory, KEPT_MS } from './directory.ts'
import { ReplicaThread } from './files/thread.ts'
import { Forwarder, NODE_TOKEN } from './forward.ts'
import { Housekeeping } from './housekeeping.ts'
import { ClusterNumbers } from './numbers.ts'
import { clusterPage } from './operator.ts'
import { readAddress } from './postgres/hosts.ts'
import { PostgresLog } from './postgres/postgres-log.ts'
import { Membership } from './protocol/membership.ts'
import { Ownership, type TenantHost } from './protocol/ownership.ts'
import { ranked } from './protocol/ranking.ts'
import type { NodeRow, TenantRow } from './protocol/replicated-log.ts'
import type { Time } from './protocol/time.ts'
import { Router } from './router.ts'
import { ClusterRunner } from './runner.ts'
import { sharedSettings } from './shared-settings.ts'

const TIME: Time = {
  elapsed: () => performance.now(),
  wall: () => Date.now(),
  sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
}

/** How long a tenant that is given away waits for its requests. */
const FINISH_MS = 15_000
const VERSION = 1

type Book = (slug: string, at: number | null) => void

/** This node of the cluster. */
export class Cluster implements ClusterHost {
  readonly #settings: Settings
  readonly #cluster: ClusterSettings
  readonly #log: PostgresLog
  readonly #token: Buffer
  readonly #membership: Membership
  readonly #ownership: Ownership
  readonly #directory: Directory
  readonly #forwarder: Forwarder
  readonly #replicas: ReplicaThread
  readonly #router: Router
  readonly #numbers = new ClusterNumbers()
  #housekeeping: Housekeeping | null = null
  #pool: WorkerPool | null = null
  #files: TenantFiles | null = null
  #wakeAt: Book = () => {}
  #isStopping = false
  #isDraining = false
  #patience: NodeJS.Timeout | null = null

  /** Reaches the log, and makes sure that this node may join. */
  static async open(settings: Settings): Promise<Cluster> {
    const cluster = settings.cluster!
    const shared = sharedSettings(settings)
    const address = readAddress(cluster.url)
    const timeout = Math.max(1_000, cluster.lease)
    const postgres = new PostgresLog({ address, name: `tildebase ${cluster.nodeName}`, timeout })
    try {
      await postgres.prepare()
      const differing = await postgres.agree({ version: String(VERSION), ...shared })
      if (differing.length > 0)
        throw new SettingError(
          `This node differs from the cluster in ${differing.join(', ')}. All nodes need the same.`,
        )
      return new Cluster(settings, postgres)
    } catch (reason) {
      await postgres.close()
      if (reason instanceof SettingError) throw reason
      throw new SettingError(`The log of the cluster cannot be reached: ${(reason as Error).message}`)
    }
  }

  private constructor(settings: Settings, postgres: PostgresLog) {
    const cluster = settings.cluster!
    this.#settings = settings
    this.#cluster = cluster
    this.#log = postgres
    this.#token = createHmac('sha256', settings.secretKey!).update('tildebase node').digest()
    this.#directory = new Directory(postgres)
    this.#forwarder = new Forwarder(this.#token.toString('base64url'), settings.rootKey!)
    this.#replicas = new ReplicaThread(cluster, settings.data)
    const report = (reason: unknown, doing: string) => this.#report(reason, doing)
    this.#membership = new Membership({
      log: postgres,
      time: TIME,
      node: { name: cluster.nodeName, url: urlOf(settings), layout: LAYOUT_VERSION, version: process.version },
      lease: cluster.lease,
      newSession: randomUUID,
      renewed: () => this.#renewed(),
      expired: () => this.#expired(),
      report,
    })
    this.#ownership = new Ownership({
      log: this.#numbers.counted(postgres),
      time: TIME,
      host: this.#host(),
      membership: this.#membership,
      layout: LAYOUT_VERSION,
      report,
      claimed: (row) => this.#claimed(row),
      lost: (slug) => this.#lost(slug),
    })
    this.#router = new Router({
      membership: this.#membership,
      ownership: this.#ownership,
      directory: this.#directory,
      forwarder: this.#forwarder,
      hostSuffix: settings.hostSuffix,
      patience: cluster.patience,
      isNode: (request) => this.isNode(request),
      report,
    })
  }

  readonly gate: Gate = {
    committed: (slug, n, changes, erases) => {
      this.#ownership.committed(slug, n, changes, erases)
      this.#housekeeping?.committed(slug, changes.length)
    },
    pass: (slug, release, refuse) => {
      const tenant = this.#ownership.gateOf(slug)
      if (!tenant) return refuse()
      const begun = performance.now()
      tenant.pass(() => {
        this.#numbers.passed(performance.now() - begun)
        release()
      }, refuse)
    },
    opened: (slug) => {
      const tenant = this.#ownership.gateOf(slug)
      if (tenant) this.#book(slug, tenant.epoch, 0)
    },
    died: (slugs) => {
      if (!this.#isStopping) for (const slug of slugs) void this.#reopen(slug)
    },
  }

  booking(book: Book): Book {
    return (slug, at) => {
      book(slug, at)
      const tenant = this.#ownership.gateOf(slug)
      if (tenant) this.#book(slug, tenant.epoch, at)
    }
  }

  async join(node: {
    readonly pool: WorkerPool
    readonly files: TenantFiles
    readonly data: string
    readonly wakeAt: Book
  }): Promise<TenantRunner> {
    const { pool, files, data, wakeAt } = node
    this.#pool = pool
    this.#files = files
    this.#wakeAt = wakeAt
    // What a crash has left is a replica like any other: its end is compared with the log before it is used.
    for (const slug of await files.allSlugs()) await this.#replicas.withdraw(slug)
    await this.#membership.join()
    void this.#membership.run()
    const { followers, snapshotChanges, snapshotBytes, patience } = this.#cluster
    this.#housekeeping = new Housekeeping({
      log: this.#log,
      pool,
      membership: this.#membership,
      ownership: this.#ownership,
      replicas: this.#replicas,
      data,
      time: TIME,
      followers,
      snapshotChanges,
      snapshotBytes,
      report: (reason, doing) => this.#report(reason, doing),
      warm: (slug, to) => this.#warm(slug, to),
      moving: (slug, to) => this.#tellOwner(slug, to),
    })
    this.#housekeeping.start()
    this.#patience = setInterval(() => this.#ownership.refuseBefore(performance.now() - patience), 250).unref()
    log('info', 'This node has joined the cluster', { node: this.#cluster.nodeName, session: this.#membership.session })
    return new ClusterRunner({
      pool,
      files,
      data,
      signup: this.#settings.signup,
      log: this.#log,
      ownership: this.#ownership,
      membership: this.#membership,
      directory: this.#directory,
      replicas: this.#replicas,
      verifyElsewhere: (slug, secret) => this.#verifyElsewhere(slug, secret),
      readElsewhere: (slug, path, sender) => this.#readElsewhere(slug, path, sender),
    })
  }

  readonly isNode = ({ headers }: IncomingMessage): boolean => this.#isToken(headers[NODE_TOKEN])

  exists(slug: string): boolean {
    return this.#ownership.gateOf(slug) !== undefined || this.#directory.mayExist(slug)
  }

  get elsewhere(): Router['elsewhere'] {
    return this.#router.elsewhere
  }

  operatorPage(request: HttpRequest, segments: readonly string[], sender: Sender): MaybePromise<HttpResponse | null> {
    return clusterPage(request, segments, sender, {
      log: this.#log,
      membership: this.#membership,
      ownership: this.#ownership,
      directory: this.#directory,
      forwarder: this.#forwarder,
      replicas: this.#replicas,
      numbers: this.#numbers,
      pool: this.#pool!,
      move: (slug, node) => this.#housekeeping!.move(slug, node),
    })
  }

  metrics(): string {
    return this.#numbers.page(this.#ownership.all, this.#membership, this.#replicas, this.#housekeeping?.snapshots ?? 0)
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  /** Moves all tenants to other nodes. Requests that still come here are passed on to them for a while. */
  async drain(): Promise<void> {
    const { nodes, session } = this.#membership
    this.#housekeeping?.stop()
    if (!nodes.some((node) => node.session !== session && !node.draining)) return
    this.#isDraining = true
    try {
      await this.#log.setDraining(this.#cluster.nodeName, true)
      await this.#housekeeping?.releaseAll()
    } catch (reason) {
      this.#report(reason, 'give the tenants away')
    }
    // Other nodes believe for a while that the tenants are here. The grace begins when none does any more.
    await TIME.sleep(KEPT_MS + this.#cluster.grace)
  }

  async leave(): Promise<void> {
    this.#isStopping = true
    this.#housekeeping?.stop()
    if (this.#patience) clearInterval(this.#patience)
    await this.#membership.leave().catch((reason) => this.#report(reason, 'leave the cluster'))
    this.#ownership.stop()
    this.#forwarder.close()
    await this.#replicas.close()
    await this.#log.close()
  }

  #host(): TenantHost {
    return {
      bring: (row) => this.#replicas.bring(row),
      open: async (row) => {
        await this.#replicas.publish(row)
        this.#pool!.tell({ do: 'clock', slug: row.slug, from: row.clock }, row.slug)
      },
      close: async (slug) => {
        await this.#pool!.manage(slug, 'restTenant')
        const until = performance.now() + FINISH_MS
        while (this.#router.underWay(slug) > 0 && performance.now() < until) await TIME.sleep(5)
        await this.#pool!.manage(slug, 'closeTenant')
      },
      withdraw: (slug) => this.#replicas.withdraw(slug),
      drop: async (slug) => {
        // A thread that is down has no file open.
        await this.#pool!.manage(slug, 'dropTenant').catch(() => this.#files!.remove(slug))
      },
    }
  }

  #renewed(): void {
    this.#pool?.tell({ do: 'clockLimit', until: this.#membership.promised })
    this.#forwarder.keep(new Set(this.#membership.nodes.map(({ session }) => session)))
    this.#ownership.drain()
  }

  #expired(): void {
    log('warn', 'This node was declared dead and has dropped its tenants', { tenants: this.#ownership.all.length })
    this.#ownership.loseAll()
  }

  #claimed(row: TenantRow): void {
    this.#numbers.claims++
    this.#housekeeping?.claimed(row)
    this.#directory.forget(row.slug)
    // It may have had something due with the owner before.
    this.#wakeAt(row.slug, Date.now())
    log('info', 'A tenant was claimed', { tenant: row.slug, epoch: row.epoch, head: row.head })
  }

  #lost(slug: string): void {
    this.#housekeeping?.lost(slug)
    this.#directory.forget(slug)
    this.#wakeAt(slug, null)
    log('info', 'A tenant has left this node', { tenant: slug })
  }

  #book(slug: string, epoch: number, at: number | null): void {
    this.#log.setDue(slug, epoch, at).catch((reason) => this.#report(reason, `book ${slug}`))
  }

  /** The thread of a tenant has ended: its file is compared with the log again. */
  async #reopen(slug: string): Promise<void> {
    try {
      await this.#ownership.forget(slug)
      await this.#ownership.own(slug)
    } catch (reason) {
      this.#report(reason, `open ${slug} again`)
    }
  }

  /** Lets a node bring its replica near the end of the log, so that requests wait for the rest only. */
  async #warm(slug: string, session: string | null): Promise<void> {
    const node = this.#membership.nodeOf(session)
    if (node) await this.#forwarder.ask(node, '/operator/cluster/warm', { tenant: slug }).catch(() => {})
  }

  #tellOwner(slug: string, session: string | null): void {
    const node = this.#membership.nodeOf(session)
    if (node) void this.#forwarder.ask(node, '/operator/cluster/take', { tenant: slug }).catch(() => {})
  }

  async #readElsewhere(slug: string, path: string, sender: Sender): Promise<HttpResponse | null> {
    const node = await this.#nodeOf(slug)
    if (!node) return null
    const answer = await this.#forwarder.read(node, path, sender.kind === 'secret' ? sender.secret : null)
    return { status: answer.status, headers: {}, body: await answer.text() }
  }

  /** The node that owns a tenant, or that will when it is asked; undefined when that is this one. */
  async #nodeOf(slug: string): Promise<NodeRow | undefined> {
    const row = await this.#directory.find(slug)
    if (!row) return undefined
    const { nodes, session } = this.#membership
    const node = this.#membership.nodeOf(row.owner) ?? ranked(slug, row.pin, nodes)[0]
    return node?.session === session ? undefined : node
  }

  async #verifyElsewhere(slug: string, secret: string): Promise<boolean> {
    const node = await this.#nodeOf(slug)
    if (!node) return (await this.#ownedHere(slug)) ? this.#pool!.verify(slug, secret) : false
    const answer = await this.#forwarder.ask(node, '/operator/cluster/verify', { tenant: slug, secret })
    return answer.ok && ((await answer.json()) as { valid: boolean }).valid
  }

  async #ownedHere(slug: string): Promise<boolean> {
    return (await this.#directory.find(slug)) !== null && (await this.#ownership.own(slug)) !== null
  }

  #isToken(given: string | string[] | undefined): boolean {
    if (typeof given !== 'string') return false
    const bytes = Buffer.from(given, 'base64url')
    return bytes.length === this.#token.length && timingSafeEqual(bytes, this.#token)
  }

  #report(reason: unknown, doing: string): void {
    this.#numbers.failures++
    log('warn', 'The cluster could not do something', { doing, reason: (reason as Error)?.message ?? String(reason) })
  }
}

/** Where other nodes reach this one. */
function urlOf({ cluster, host, port }: Settings): string {
  if (cluster!.advertise !== null) return cluster!.advertise
  if (port === 0 || ['0.0.0.0', '::'].includes(host))
    throw new SettingError('--advertise says where other nodes reach this one, such as http://10.0.0.1:8787.')
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
