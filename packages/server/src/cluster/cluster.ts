import type { HttpRequest, HttpResponse, MaybePromise } from '../doors/http.ts'
import type { Sender, TenantCall } from '../doors/tenant-call.ts'
import type { Settings } from '../host/settings/settings.ts'
import type { Book, ClusterHost, LocalNode } from '../node/cluster-host.ts'
import { log } from '../node/log.ts'
import { Housekeeping } from './housekeeping.ts'
import { clusterPage } from './operator/operator.ts'
import { OutputGate } from './output-gate.ts'
import { createParts, type PartEvents, type Parts } from './parts.ts'
import { Database } from './postgres/database.ts'
import { readAddress } from './postgres/hosts.ts'
import { PostgresMail } from './postgres/postgres-mail.ts'
import type { LogGuard } from './protocol/log-guard.ts'
import type { ReplicatedLog } from './protocol/replicated-log.ts'
import { KEPT_MS } from './routing/directory.ts'
import { ClusterRunner } from './runner.ts'
import { Snapshots } from './snapshots.ts'
import { SYSTEM_TIME } from './system-time.ts'

/** How often answers that have waited too long are looked for. */
const PATIENCE_EVERY = 250

/** This node of the cluster: how it joins, what it does when tenants come and go, and how it leaves. */
export class Cluster implements ClusterHost {
  readonly #settings: Settings
  readonly #parts: Parts
  readonly gate: OutputGate
  #housekeeping: Housekeeping | null = null
  #snapshots: Snapshots | null = null
  #node: LocalNode | null = null
  #runner: ClusterRunner | null = null
  #isStopping = false
  #isDraining = false
  #patience: NodeJS.Timeout | null = null

  /** `url` is where other nodes reach this one. */
  constructor(settings: Settings, replicated: ReplicatedLog, guard: LogGuard, url: string) {
    this.#settings = settings
    this.#parts = createParts(settings, replicated, guard, url, this.#events(guard))
    const { ownership, numbers } = this.#parts
    guard.watch(() => ownership.acknowledged)
    this.gate = new OutputGate({
      ownership,
      numbers,
      committed: (slug, bytes) => this.#snapshots?.committed(slug, bytes),
      opened: (slug) => this.#book(slug, 0),
      died: (slug) => void this.#reopen(slug),
    })
  }

  booking(book: Book): Book {
    return (slug, at) => {
      book(slug, at)
      this.#book(slug, at)
    }
  }

  async join(node: LocalNode): Promise<ClusterRunner> {
    const { nodeName, followers, snapshotChanges, snapshotBytes } = this.#settings.cluster!
    const { threads, membership, ownership, peers, patience } = this.#parts
    this.#node = node
    await threads.start(node)
    await membership.join()
    void membership.run()
    this.#snapshots = new Snapshots({
      ...this.#parts,
      ...node,
      ...{ snapshotChanges, snapshotBytes },
      time: SYSTEM_TIME,
    })
    this.#housekeeping = new Housekeeping({
      ...this.#parts,
      ...{ followers, snapshots: this.#snapshots, empty: node.empty },
      time: SYSTEM_TIME,
      report: this.#report,
      warm: (slug, to) => peers.warm(slug, to),
      moving: (slug, to) => void peers.take(slug, to),
    })
    this.#housekeeping.start()
    this.#patience = setInterval(() => ownership.refuseBefore(performance.now() - patience()), PATIENCE_EVERY).unref()
    log('info', 'This node has joined the cluster', { node: nodeName, session: membership.session })
    this.#runner = new ClusterRunner({ ...this.#parts, ...node, gate: this.gate, signup: this.#settings.signup })
    return this.#runner
  }

  async handle(call: TenantCall): Promise<HttpResponse> {
    const { ownership, directory, peers } = this.#parts
    const isHere = ownership.gateOf(call.slug) !== undefined || !directory.mayExist(call.slug)
    const node = isHere ? undefined : await peers.nodeOf(call.slug)
    return node ? peers.pass(node, call) : this.#runner!.handle(call)
  }

  mailDirectory(): PostgresMail {
    const { url, nodeName, lease } = this.#settings.cluster!
    const { membership } = this.#parts
    const database = new Database(readAddress(url), `tildebase ${nodeName}`, Math.max(1_000, lease))
    return new PostgresMail(database, () => membership.session)
  }

  get isNode(): ClusterHost['isNode'] {
    return this.#parts.proofs.isNode
  }

  exists(slug: string): boolean {
    return this.#parts.ownership.gateOf(slug) !== undefined || this.#parts.directory.mayExist(slug)
  }

  get elsewhere(): ClusterHost['elsewhere'] {
    return this.#parts.router.elsewhere
  }

  operatorPage(request: HttpRequest, segments: readonly string[], sender: Sender): MaybePromise<HttpResponse | null> {
    const { patience } = this.#settings.cluster!
    const give = (slug: string, pin: string | null) => this.#housekeeping!.give(slug, pin)
    const { pool, files, ownTasks } = this.#node!
    const { tenantLimit } = this.#settings
    return clusterPage(request, segments, sender, {
      ...this.#parts,
      ...{ pool, files, tenantLimit, patience, give, ownTasks },
    })
  }

  tasks(): Promise<readonly object[]> {
    return this.#parts.peers.tasks()
  }

  metrics(): string {
    const { numbers, ownership, membership, replicas } = this.#parts
    return numbers.page(ownership.all, membership, replicas, this.#snapshots?.made ?? 0)
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  /** Moves all tenants to other nodes. Requests that still come here are passed on to them for a while. */
  async drain(): Promise<void> {
    const { membership, log: replicated } = this.#parts
    const { nodes, session } = membership
    const { nodeName, grace, lease } = this.#settings.cluster!
    this.#housekeeping?.stop()
    if (!nodes.some((node) => node.session !== session && !node.draining)) return
    this.#isDraining = true
    // After that no other node believes that the tenants are here, and all know that this one is about to stop.
    const believed = Math.max(KEPT_MS, lease)
    const until = performance.now() + believed + grace
    try {
      await replicated.setDraining(nodeName, true)
      if (await this.#housekeeping!.releaseAll(until)) return await SYSTEM_TIME.sleep(KEPT_MS + grace)
      // No node can open some of the tenants. Their requests wait at the nodes that they came to, and not here.
      await membership.leave()
      await SYSTEM_TIME.sleep(believed)
    } catch (reason) {
      this.#report(reason, 'give the tenants away')
      await SYSTEM_TIME.sleep(KEPT_MS + grace)
    }
  }

  async leave(): Promise<void> {
    const { membership, ownership, forwarder, replicas } = this.#parts
    this.#isStopping = true
    this.#housekeeping?.stop()
    if (this.#patience) clearInterval(this.#patience)
    await membership.leave().catch((reason) => this.#report(reason, 'leave the cluster'))
    ownership.stop()
    forwarder.close()
    await replicas.close()
    await this.#parts.log.close()
  }

  #events(guard: LogGuard): PartEvents {
    return {
      report: this.#report,
      renewed: () => {
        const { threads, forwarder, membership, ownership } = this.#parts
        threads.limitClock(membership.promised)
        forwarder.keep(new Set(membership.nodes.map(({ session }) => session)))
        ownership.drain()
        guard.save()
      },
      expired: () => {
        const { ownership } = this.#parts
        log('warn', 'This node was declared dead and has dropped its tenants', { tenants: ownership.all.length })
        ownership.loseAll()
      },
      claimed: (row) => {
        this.#parts.numbers.claims++
        this.#housekeeping?.claimed(row)
        this.#parts.directory.forget(row.slug)
        this.#node!.empty?.endEmpty(row.slug)
        // It may have had something due with the owner before.
        this.#node!.wakeAt(row.slug, Date.now())
        log('info', 'A tenant was claimed', { tenant: row.slug, epoch: row.epoch, head: row.head })
      },
      lost: (slug) => {
        this.#housekeeping?.lost(slug)
        this.#parts.directory.forget(slug)
        this.#node!.wakeAt(slug, null)
        log('info', 'A tenant has left this node', { tenant: slug })
      },
    }
  }

  /** Writes down when a tenant of this node is due, for a node that takes over. */
  #book(slug: string, at: number | null): void {
    const { ownership, log: replicated } = this.#parts
    const tenant = ownership.gateOf(slug)
    if (tenant) replicated.setDue(slug, tenant.epoch, at).catch((reason) => this.#report(reason, `book ${slug}`))
  }

  /** The thread of a tenant has ended: its file is compared with the log again. */
  async #reopen(slug: string): Promise<void> {
    if (this.#isStopping) return
    try {
      await this.#parts.ownership.reopen(slug)
    } catch (reason) {
      this.#report(reason, `open ${slug} again`)
    }
  }

  readonly #report = (reason: unknown, doing: string): void => {
    this.#parts.numbers.failures++
    const text = (reason as Error)?.message ?? String(reason)
    log('warn', 'The cluster could not do something', { doing, reason: text })
  }
}
