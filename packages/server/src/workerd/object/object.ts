import { DurableObject, type DurableObjectState } from 'cloudflare:workers'
import { Problem } from '@tildebase/nouns'
import type { Tenant } from '@tildebase/tenant'
import { quotaWarning } from '@tildebase/tenant/internal'
import type { BlobStore } from '@tildebase/tenant/ports'
import { handleRequest } from '../../doors/app.ts'
import type { HttpRequest, HttpResponse } from '../../doors/http.ts'
import type { IdentityPorts } from '../../doors/identity/ports.ts'
import { RateLimit } from '../../doors/limits/rate.ts'
import { empty, render } from '../../doors/reply.ts'
import { refusal } from '../../doors/respond.ts'
import { routes } from '../../doors/route-table.ts'
import type { TenantCall } from '../../doors/tenant-call.ts'
import { fetchResponseOf, httpRequestOf, withBody } from '../../host/fetch-adapter.ts'
import type { Program } from '../../host/program.ts'
import { readSettings } from '../../host/settings/settings.ts'
import { Directory } from '../directory.ts'
import { DurableTenants } from '../durable-tenants.ts'
import type { Env, TenantObjectClass } from '../env.ts'
import { log, report } from '../log.ts'
import { backUp } from '../operator/backup.ts'
import { runTask } from '../operator/object-tasks.ts'
import { restoreSegment } from '../operator/restore-backup.ts'
import { createDocuments } from '../ports/documents.ts'
import { createPasswords } from '../ports/passwords.ts'
import { dropContents, r2Store } from '../ports/r2-store.ts'
import { admit, restoring } from './admit.ts'
import { LazySql } from './lazy-sql.ts'
import { ObjectMarks } from './marks.ts'
import { commandOf, type ObjectCommand } from './object-command.ts'
import { openObject } from './open-object.ts'
import { RequestBody } from './request-body.ts'
import { DurableSql } from './sql.ts'

/** How long after a failure something is tried again. */
const PAUSE_MS = 60_000
/** Segments of a backup that one alarm restores: its time of computing is limited. */
const MOST_SEGMENTS = 8

/** The Durable Object of a tenant, for a program of nouns and hooks. */
export function tenantObject(program: Program): TenantObjectClass {
  return class TenantObject extends DurableObject<Env> {
    #sql: LazySql
    #tenant: Tenant | null = null
    #baseUrl = ''
    #alarmAt: number | null = null
    /** By when the requests out that are in progress will have ended. */
    #flightsUntil = 0
    #backupAt: number | null = null
    /** Settles when the new tenant that is being made is further, or whole. */
    #replay: Promise<unknown> | null = null
    /** Requests in progress, which may write. */
    #answering = 0
    /** Whether the directory knows the tenant, as far as this object remembers; a mark says so permanently. */
    #isListed = false
    readonly #marks: ObjectMarks
    readonly #directory: Directory | null
    readonly #settings
    readonly #rate: RateLimit | undefined
    readonly #identity: IdentityPorts
    /** The other tenants, for changesets from forks. */
    readonly #tenants: DurableTenants

    constructor(ctx: DurableObjectState, env: Env) {
      super(ctx, env)
      this.#settings = readSettings({}, env as never)
      this.#sql = new LazySql(new DurableSql(ctx.storage))
      this.#marks = new ObjectMarks(ctx.storage.kv)
      this.#directory = env.DIRECTORY ? new Directory(env.DIRECTORY) : null
      this.#tenants = new DurableTenants(env.TENANTS, {
        signup: this.#settings.signup,
        directory: this.#directory,
        rate: undefined,
      })
      const { rateLimit, oidc, webhooksInsecure: insecure } = this.#settings
      this.#identity = {
        ...(oidc && { oidc }),
        ...(env.LOADER && { passwords: createPasswords(env.LOADER) }),
        documents: createDocuments(insecure),
        insecureDocuments: insecure,
      }
      // A limit of the platform counts for all objects of a key; this one is for where there is none.
      if (rateLimit > 0 && !env.RATE) this.#rate = new RateLimit(rateLimit, () => Date.now())
    }

    /** Runs a command of the Worker. */
    override async fetch(request: Request): Promise<Response> {
      const command = commandOf(request)
      const requestId = 'requestId' in command ? command.requestId : 'verify'
      const body = new RequestBody(request.body)
      const response = await this.#run(command, { ...httpRequestOf(request), body: body.chunks }).catch((reason) =>
        refusal(reason, requestId, report),
      )
      await this.#settle(command.slug).catch((reason) => report(reason, requestId))
      await body.drop()
      return fetchResponseOf(response, request.method)
    }

    /** Does what is due. The platform calls again, later each time, while this throws. */
    override async alarm(): Promise<void> {
      this.#alarmAt = null
      const slug = this.ctx.id.name
      if (slug === undefined || !this.#isThere) return
      if (this.#isRestoring) return this.#restoreOn(slug)
      await this.#opened(slug).wake()
      // What flies is forgotten if the object dies: then this alarm finds it due.
      if (this.#flightsUntil > Date.now()) this.#wakeAt(this.#flightsUntil)
      if (this.#backupAt === null || this.#backupAt <= Date.now()) await this.#backUp(slug)
      else this.#wakeAt(this.#backupAt)
      await this.#settle(slug)
    }

    get #isThere(): boolean {
      return this.#sql.exists || this.#marks.get('created') === true
    }

    get #isRestoring(): boolean {
      return this.#replay !== null || this.#marks.get('restoring') !== undefined
    }

    async #run(command: ObjectCommand, request: HttpRequest): Promise<HttpResponse> {
      const { slug } = command
      if (command.do === 'handle') this.#admit(command, request)
      if (!this.#isThere && mayCreate(command, request)) await this.#list(slug)
      switch (command.do) {
        case 'handle': {
          this.#baseUrl = command.target.baseUrl
          const whole = await withBody(request, this.#settings.bodyLimit)
          // A restore may have begun since.
          this.#admit(command, request)
          const { signup, importLimit, queryMs, rowLimit, answerLimit, baseUrl } = this.#settings
          const budget = { ms: queryMs, rows: rowLimit, bytes: answerLimit }
          const identity = this.#identity
          const readOther = (call: TenantCall) => this.#tenants.handle(call)
          const app = { routes, signup, report, importLimit, rate: this.#rate, budget, baseUrl, identity, readOther }
          this.#answering++
          try {
            return await handleRequest(this.#opened(slug), { ...command, request: whole }, app)
          } finally {
            this.#answering--
          }
        }
        case 'verify': {
          const isKnown = this.#isThere && !this.#isRestoring && this.#opened(slug).identify(command.secret)
          return render(empty(isKnown ? 200 : 404))
        }
        case 'task':
          return runTask(command.task, request, {
            slug,
            exists: () => this.#isThere,
            isRestoring: () => this.#isRestoring,
            demandFree: () => this.#demandFree(slug),
            marks: this.#marks,
            bucket: this.env.BACKUPS,
            bytes: () => this.ctx.storage.sql.databaseSize,
            tenant: () => this.#opened(slug),
            blobs: this.#blobsOf(slug),
            replaying: (work) => this.#replaying(slug, work),
            replayed: () => this.#replay,
            wake: () => this.#wakeAt(Date.now()),
            erase: () => this.#erase(slug),
          })
      }
    }

    #admit({ slug, target, sender }: Extract<ObjectCommand, { do: 'handle' }>, request: HttpRequest): void {
      const presence = { exists: this.#isThere, isRestoring: this.#isRestoring }
      admit(slug, request, target, sender, presence, this.#settings)
    }

    /** Refuses to begin a restore where a tenant is, or where a request in progress may create one. */
    #demandFree(slug: string): void {
      if (this.#replay) throw restoring(slug)
      if (this.#sql.exists && !this.#marks.get('restoring')) {
        const { seq } = this.#opened(slug).admin.head
        throw new Problem('conflict', `The tenant ${slug} already exists.`, { id: slug, seq })
      }
      if (this.#answering > 0)
        throw new Problem('busy', `The tenant ${slug} answers a request. Try again in a moment.`, { retryAfter: 1 })
    }

    /** Refuses all requests while a new tenant is made. */
    async #replaying<T>(slug: string, work: () => Promise<T>): Promise<T> {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#replay = promise
      try {
        return await work()
      } finally {
        this.#replay = null
        resolve()
        // What is kept in addition to the log was replaced: it must be read again.
        this.#tenant = null
        if (this.#sql.exists && !this.#isRestoring) this.#opened(slug)
      }
    }

    /** Restores more of a backup. */
    async #restoreOn(slug: string): Promise<void> {
      const mark = this.#marks.get('restoring')
      const bucket = this.env.BACKUPS
      if (this.#replay || !mark?.source || mark.failed || !bucket) return
      const pause = () => new Promise<void>((next) => setTimeout(next))
      let { source } = mark
      await this.#replaying(slug, async () => {
        try {
          for (let i = 0; i < MOST_SEGMENTS; i++) {
            const next = await restoreSegment(bucket, this.#opened(slug), source, pause, this.#blobsOf(slug))
            if (next === null) return this.#marks.clear('restoring')
            source = next
            this.#marks.set('restoring', { ...mark, source })
          }
        } catch (reason) {
          if (!(reason instanceof Problem)) throw reason
          this.#marks.set('restoring', { ...mark, source, failed: reason.message })
        }
      })
      if (this.#isRestoring) this.#wakeAt(Date.now())
      else await this.#settle(slug)
    }

    /** The directory knows a tenant before it is there: one that it does not know is not asked for. */
    async #list(slug: string): Promise<void> {
      if (!this.#directory || this.#isListed || this.#marks.get('listed')) return
      await this.#directory.add(slug)
      this.#isListed = true
    }

    /** Takes back from the directory what did not come to be, and books the backup of what is new. */
    async #settle(slug: string): Promise<void> {
      if (this.#isThere || this.#isRestoring) await this.#list(slug)
      else if (this.#isListed) {
        this.#isListed = false
        await this.#directory?.remove(slug)
      }
      if (!this.#isThere) return
      if (this.#isListed && !this.#marks.get('listed')) this.#marks.set('listed', true)
      await this.#warn(slug)
      if (this.#backupAt !== null || !this.env.BACKUPS || this.#isRestoring || this.#tenant === null) return
      if (this.#tenant.admin.head.seq <= (this.#marks.get('backup')?.seq ?? 0)) return
      this.#backupAt = Date.now() + this.#backupMs
      this.#wakeAt(this.#backupAt)
    }

    /** Tells the directory when the tenant comes near its limit, and when it has room again. */
    async #warn(slug: string): Promise<void> {
      const { tenantLimit } = this.#settings
      const bytes = this.ctx.storage.sql.databaseSize
      const warning = tenantLimit === null ? null : quotaWarning(bytes, tenantLimit)
      if (!this.#directory || warning === (this.#marks.get('warning') ?? null)) return
      await this.#directory.warn(slug, warning)
      if (warning === null) this.#marks.clear('warning')
      else this.#marks.set('warning', warning)
    }

    get #backupMs(): number {
      return Number(this.env.TILDE_BACKUP_SECONDS ?? 300) * 1_000
    }

    async #backUp(slug: string): Promise<void> {
      const bucket = this.env.BACKUPS
      if (!bucket || this.#isRestoring) return
      try {
        const isMore = await backUp(bucket, this.#opened(slug), this.#marks, this.env.FILES)
        this.#backupAt = isMore ? Date.now() : null
      } catch (reason) {
        log('error', 'A tenant could not be backed up', { tenant: slug, reason: String(reason) })
        this.#backupAt = Date.now() + PAUSE_MS
      }
      if (this.#backupAt !== null) this.#wakeAt(this.#backupAt)
    }

    #blobsOf(slug: string): BlobStore | undefined {
      return this.env.FILES && r2Store(this.env.FILES, slug)
    }

    async #erase(slug: string): Promise<void> {
      await this.#tenant?.rest()
      if (this.env.FILES) await dropContents(this.env.FILES, slug)
      this.#tenant = null
      this.#isListed = true
      this.#backupAt = null
      this.#alarmAt = null
      await this.ctx.storage.deleteAlarm()
      await this.ctx.storage.deleteAll()
      this.#marks.forget()
      this.#sql = new LazySql(new DurableSql(this.ctx.storage))
    }

    #opened(slug: string): Tenant {
      if (this.#tenant) return this.#tenant
      const tenant = openObject(slug, program, {
        sql: this.#sql,
        settings: this.#settings,
        loader: this.env.LOADER,
        blobs: this.#blobsOf(slug),
        baseUrl: () => this.#baseUrl,
        wakeAt: (at) => this.#wakeAt(at),
        flying: (until) => {
          this.#flightsUntil = Math.max(this.#flightsUntil, until)
          this.#wakeAt(until)
        },
      })
      this.#tenant = tenant
      const due = this.#isRestoring ? null : tenant.due()
      if (due !== null) this.#wakeAt(due)
      return tenant
    }

    /** There is one alarm: the earliest time asked for. */
    #wakeAt(at: number): void {
      if (this.#alarmAt !== null && this.#alarmAt <= at) return
      this.#alarmAt = at
      // After the transaction in progress: what is undone with it needs no alarm.
      queueMicrotask(() => {
        // Never for the time of an alarm that runs: the host would take it for that one, and forget it at its end.
        const later = Math.max(at, Date.now() + 1)
        if (this.#alarmAt === at && this.#isThere) void this.ctx.storage.setAlarm(later)
      })
    }
  }
}

/** Whether a command may make a tenant that is not there. */
function mayCreate(command: ObjectCommand, { method }: HttpRequest): boolean {
  if (command.do === 'handle') return method !== 'GET' && method !== 'HEAD'
  return (
    command.do === 'task' &&
    (command.task.do === 'create' || command.task.do === 'replay' || command.task.do === 'restore')
  )
}
