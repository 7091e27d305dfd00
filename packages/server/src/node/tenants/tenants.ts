import { setTimeout as sleep } from 'node:timers/promises'
import { isoOf, Problem } from '@tildebase/nouns'
import type { Tenant } from '@tildebase/tenant'
import { type AppOptions, handleRequest, unauthorized } from '../../doors/app.ts'
import type { HttpResponse, MaybePromise } from '../../doors/http.ts'
import { refusal } from '../../doors/respond.ts'
import { isLinkPath, isOpenPath } from '../../doors/target.ts'
import type { Sender, TenantCall } from '../../doors/tenant-call.ts'
import { scheduler } from '../../doors/turns.ts'
import type { TenantHost } from '../../host/tenant-host.ts'
import { followed, held, holdsOn } from '../http/bodies.ts'
import { type AdminTask, runAdminTask } from '../operator/admin-tasks.ts'
import type { AdminContext } from '../operator/log-file.ts'
import type { Stats } from '../watch/stats.ts'
import type { OpenTenant } from './open-tenant.ts'
import { elsewhere, inTime, OpenTenants, type OpenTenantsOptions } from './open-tenants.ts'

export interface LocalTenantsOptions extends OpenTenantsOptions {
  /** With `operator`, a slug is unknown until the operator or a sign-up has created its tenant. */
  readonly createTenants: 'write' | 'operator'
  readonly app: AppOptions
}

type Body = AsyncIterable<string | Uint8Array>

/** A request in a tenant. */
interface Visit {
  readonly call: TenantCall
  readonly entry: OpenTenant
}

/** How long a stop waits for the background work of tenants. */
const REST_MS = 5_000
const IDLE_POLL = 5

/** The tenants of this thread: opened when asked for, closed when others need the room. */
export class LocalTenants implements TenantHost<AdminTask, Stats> {
  readonly #options: LocalTenantsOptions
  readonly #open: OpenTenants
  /** Tenants that do not exist, opened in memory for their readers. */
  readonly #empty = new Map<string, Set<OpenTenant>>()
  /** Tenants whose large files are being compared with their checksums. */
  readonly #comparing = new Map<string, Promise<void>>()
  /** True once it starts nothing new. */
  #isResting = false

  constructor(options: LocalTenantsOptions) {
    this.#options = options
    this.#open = new OpenTenants(options, {
      wake: (slug) => void this.wake(slug),
      opened: (slug, entry) => this.#onFirstWrite(slug, entry),
      report: options.app.report,
    })
  }

  /** What the tenants have done, and what they have before them. */
  async stats(): Promise<Stats> {
    const waiting = this.#open.all.reduce((sum, { tenant }) => sum + tenant.waiting, 0)
    const longWrites = this.#open.all.flatMap(({ tenant }) => longWritesOf(tenant))
    return { ...this.#options.stats, open: this.#open.size, waiting, longWrites }
  }

  handle(call: TenantCall): MaybePromise<HttpResponse> {
    const comparing = this.#compared(call.slug)
    return comparing ? comparing.then(() => this.#handleNow(call)) : this.#handleNow(call)
  }

  #handleNow(call: TenantCall): MaybePromise<HttpResponse> {
    const { slug, request, target, sender } = call
    let entry: OpenTenant
    try {
      const exists = this.#open.has(slug) || this.#options.files.has(slug)
      // A node of a cluster cannot tell from its files which tenants there are: this one has just left.
      if (!exists && this.#options.replication) throw elsewhere()
      if (!exists && (sender.kind === 'secret' || sender.kind === 'session')) throw unauthorized()
      // A sender without a key learns nothing, not even how long it takes to look.
      const mayBeFirst = this.#options.app.signup && request.method === 'POST'
      const mayBeOpen =
        exists && (isLinkPath(target.segments) || (isOpenPath(target.segments) && this.#hasPeople(slug)))
      if (sender.kind === 'anonymous' && !mayBeFirst && !mayBeOpen) throw unauthorized()
      if (this.#options.createTenants === 'operator') demandCreated(slug, exists && !call.isFirst, mayBeOpen, sender)
      const isFresh = !exists && request.method !== 'GET' && request.method !== 'HEAD'
      // A tenant that does not exist is read as an empty one, on no disk. Its followers move once it does exist.
      entry = exists || isFresh ? this.#open.use(slug) : this.#open.openFile(slug, ':memory:')
      if (isFresh) entry.isFresh = true
      else if (!exists) this.#holdEmpty(slug, entry)
    } catch (reason) {
      return refusal(reason, call.requestId, this.#options.app.report)
    }
    entry.busy++
    const visit: Visit = { call, entry }
    const given = handleRequest(entry.tenant, call, this.#options.app)
    if (given instanceof Promise) return this.#durable(visit, given, null)
    const pending = entry.pending()
    return pending ? this.#durable(visit, given, pending) : this.#over(visit, given)
  }

  /** What was made from a commit leaves when the commit is on the disk. A promise of that has to be awaited once it is made. */
  async #durable(
    visit: Visit,
    given: MaybePromise<HttpResponse>,
    pending: Promise<void> | null,
  ): Promise<HttpResponse> {
    const answer = await given
    try {
      await (pending ?? visit.entry.pending())
    } catch (reason) {
      return this.#over(visit, refusal(reason, visit.call.requestId, this.#options.app.report))
    }
    return this.#over(visit, answer)
  }

  #over(visit: Visit, given: HttpResponse): HttpResponse {
    if (typeof given.body === 'string' || !holdsOn(given)) {
      this.#leave(visit)
      return given
    }
    const { call, entry } = visit
    const { slug } = call
    // What sends it may still write.
    this.#release(slug, entry)
    const hold = () => {
      entry.busy++
      if (this.#open.get(slug) !== entry) this.#holdEmpty(slug, entry)
    }
    const body = held(given.body, hold, () => this.#leave(visit), entry.pending)
    if (this.#open.get(slug) === entry) return { ...given, body }
    return { ...given, body: followed(body, () => this.#continued(call)) }
  }

  #leave({ call: { slug }, entry }: Visit): void {
    this.#release(slug, entry)
    // A first write that was refused has written nothing: it leaves no tenant behind. The last request in it decides.
    if (!entry.isFresh || !entry.isIdle() || this.#open.get(slug) !== entry) return
    if (entry.tenant.isEmpty) this.#open.discard(slug)
    else entry.isFresh = false
  }

  /** Settles when the large file of a tenant was compared with its checksum, and it can be opened; null when it can be now. */
  #compared(slug: string): Promise<void> | null {
    if (this.#open.has(slug)) return null
    const known = this.#comparing.get(slug)
    if (known) return known
    const steps = this.#options.files.comparing(slug)
    if (steps === null) return null
    const isAwaited = this.#options.isAwaited ?? (() => true)
    const worked = (ms: number) => this.#options.worked?.(slug, ms)
    const comparing = scheduler
      .steps(slug, steps, { isAwaited, worked })
      // It is refused, with what is wrong, when it is opened.
      .catch(() => {})
      .finally(() => this.#comparing.delete(slug))
    this.#comparing.set(slug, comparing)
    return comparing
  }

  /** Whether any person can sign in to a tenant. A closed tenant is not opened for this. */
  #hasPeople(slug: string): boolean {
    return this.#open.has(slug) || this.#options.files.hasPeople(slug)
  }

  async verify(slug: string, secret: string): Promise<boolean> {
    const { files } = this.#options
    await this.#compared(slug)
    if (!this.#open.has(slug) && !(files.has(slug) && files.hasKey(slug, secret))) return false
    return this.#open.use(slug).tenant.identify(secret) !== null
  }

  /** Opens a tenant and does what is due in it. After a start many are woken at once: requests have their turns between them. */
  async wake(slug: string): Promise<void> {
    await scheduler.later(slug, () => this.#wakeNow(slug))
  }

  async #wakeNow(slug: string): Promise<void> {
    // Without a wait it is opened at once, in its turn.
    const comparing = this.#compared(slug)
    if (comparing) await comparing
    if (this.#isResting || !this.#options.files.has(slug) || this.#options.replication?.isHere(slug) === false) return
    const entry = this.#open.use(slug, true)
    entry.busy++
    try {
      await entry.tenant.wake()
    } catch (reason) {
      this.#options.app.report(reason, `wake ${slug}`)
    } finally {
      entry.busy--
    }
  }

  /** When a tenant that is open next has something to do, or null. */
  due(slug: string): number | null {
    return this.#open.get(slug)?.tenant.due() ?? null
  }

  /** Waits until a tenant has nothing in progress that belongs to no request. */
  async quiet(slug: string): Promise<void> {
    while ((this.#open.get(slug)?.tenant.underWay ?? 0) > 0) await sleep(1)
  }

  /** Does what the operator asks of a tenant as a whole. */
  async task(slug: string, task: AdminTask): Promise<unknown> {
    const { files, tenant: options } = this.#options
    const during = async <T>(name: string, work: (tenant: Tenant) => Promise<T>) => {
      const entry = this.#open.use(name)
      entry.busy++
      try {
        return await work(entry.tenant)
      } finally {
        entry.busy--
      }
    }
    const context: AdminContext = {
      files,
      options,
      // It is closed before the task is done, and then all of it is on the disk.
      open: (name, path) => this.#open.openFile(name, path, () => {}, true),
      use: (name) => this.#open.use(name).tenant,
      during,
      isOpen: (name) => this.#open.has(name),
      close: (name) => this.#open.close(name),
    }
    await this.#compared(slug)
    const result = await runAdminTask(context, slug, task)
    await this.#open.get(slug)?.pending()
    return result
  }

  /** Ends the streams and the background work of a tenant that is about to be closed permanently. */
  async restTenant(slug: string): Promise<void> {
    await inTime(this.#open.get(slug)?.tenant.rest(), REST_MS)
  }

  /** Closes a tenant when nothing uses it any more, or after a while in any case. */
  async closeTenant(slug: string): Promise<void> {
    const entry = this.#open.get(slug)
    for (let ms = 0; entry && ms < REST_MS && !entry.isIdle(); ms += IDLE_POLL) await sleep(IDLE_POLL)
    this.#options.replication?.left(slug)
    this.#open.close(slug)
  }

  /** Closes a tenant immediately and removes its file: another node has continued without it. */
  async dropTenant(slug: string): Promise<void> {
    this.#options.replication?.left(slug)
    const entry = this.#open.get(slug)
    if (!entry) return this.#options.files.remove(slug)
    void entry.tenant.rest()
    this.#open.discard(slug)
  }

  /** Ends every stream and starts nothing new; waits a while for deliveries and hooks that are in progress. */
  async rest(): Promise<void> {
    this.#isResting = true
    const open = [...this.#open.all, ...[...this.#empty.values()].flatMap((empty) => [...empty])]
    await inTime(Promise.all(open.map(({ tenant }) => tenant.rest())), REST_MS)
  }

  /** Slugs without a tenant that are being read. */
  get emptySlugs(): readonly string[] {
    return [...this.#empty.keys()]
  }

  /** Ends the streams of those who followed a tenant while it did not exist: they continue with the real one. */
  endEmpty(slug: string): void {
    for (const empty of this.#empty.get(slug) ?? []) void empty.tenant.rest()
  }

  async close(): Promise<void> {
    await this.rest()
    await this.#options.script?.close()
    await this.#unused()
    await this.#open.closeAll(REST_MS)
  }

  /** Waits a while for requests that are still in progress, although their clients have left. */
  async #unused(): Promise<void> {
    const isUsed = ({ busy, tenant }: OpenTenant) => busy > 0 || tenant.waiting > 0
    for (let ms = 0; ms < REST_MS && this.#open.all.some(isUsed); ms += IDLE_POLL) await sleep(IDLE_POLL)
  }

  /** What a stream of a tenant that did not exist continues with, now that it does. */
  async #continued(call: TenantCall): Promise<Body | null> {
    if (!this.#open.has(call.slug)) return null
    const answer = await this.handle(call)
    return holdsOn(answer) ? answer.body : null
  }

  #holdEmpty(slug: string, entry: OpenTenant): void {
    this.#empty.set(slug, (this.#empty.get(slug) ?? new Set()).add(entry))
  }

  #release(slug: string, entry: OpenTenant): void {
    entry.busy--
    if (this.#empty.size === 0) return
    const empty = this.#empty.get(slug)
    if (entry.busy === 0 && empty?.delete(entry) && empty.size === 0) this.#empty.delete(slug)
  }

  #onFirstWrite(slug: string, entry: OpenTenant): void {
    if (entry.tenant.exists) return
    const stop = entry.tenant.listen(() => {
      stop()
      this.endEmpty(slug)
    })
  }
}

/** The writes of a tenant that take long, in the form of the operator's tasks. */
function longWritesOf({ slug, tasks }: Tenant): object[] {
  return tasks.running.map(({ id, title, actor, startedAt, done, total }) => {
    return { tenant: slug, task: 'write', step: title, since: isoOf(startedAt), done, of: total || null, actor, id }
  })
}

/** Rejects a slug without a created tenant, and a sender without a key if the tenant exists. */
function demandCreated(slug: string, exists: boolean, mayBeOpen: boolean, sender: Sender): void {
  if (sender.kind === 'anonymous' && exists && !mayBeOpen) throw unauthorized()
  if (exists || sender.kind === 'anonymous') return
  throw new Problem('unknown_tenant', `There is no tenant ${slug}. The operator creates it: POST /operator/tenants.`, {
    id: slug,
  })
}
