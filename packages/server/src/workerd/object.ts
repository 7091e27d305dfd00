import { DurableObject, type DurableObjectState } from 'cloudflare:workers'
import { Problem } from '@tildebase/nouns'
import { openTenant, type Tenant } from '@tildebase/tenant'
import { handleRequest } from '../app.ts'
import { fetchResponseOf, httpRequestOf, withBody } from '../fetch-adapter.ts'
import { systemClock, systemRandom, systemSeal } from '../host/ports.ts'
import { createSigner } from '../host/signer.ts'
import { createVault } from '../host/vault.ts'
import { createWitnesses } from '../host/witnesses.ts'
import type { HttpRequest, HttpResponse } from '../http.ts'
import type { IdentityPorts } from '../identity/ports.ts'
import { logPart } from '../log-request.ts'
import { readSettings } from '../node/config.ts'
import type { Program } from '../program.ts'
import { RateLimit } from '../rate.ts'
import { empty, json, render } from '../reply.ts'
import { refusal } from '../respond.ts'
import { routes } from '../route-table.ts'
import { createDocuments } from './documents.ts'
import type { Env, TenantObjectClass } from './env.ts'
import { LazySql } from './lazy-sql.ts'
import { log, report } from './log.ts'
import { commandOf, type ObjectCommand, type ObjectTask } from './object-command.ts'
import { createOutbound } from './outbound.ts'
import { createScript } from './script.ts'
import { seedOf } from './signing.ts'
import { DurableSql } from './sql.ts'

/** The Durable Object of a tenant, for a program of nouns and hooks. */
export function tenantObject(program: Program): TenantObjectClass {
  return class TenantObject extends DurableObject<Env> {
    #sql: LazySql
    #tenant: Tenant | null = null
    #baseUrl = ''
    #alarmAt: number | null = null
    readonly #settings
    readonly #rate: RateLimit | undefined
    readonly #identity: IdentityPorts

    constructor(ctx: DurableObjectState, env: Env) {
      super(ctx, env)
      this.#settings = readSettings({}, env as never)
      this.#sql = new LazySql(new DurableSql(ctx.storage))
      const { rateLimit, oidc, webhooksInsecure: insecure } = this.#settings
      // Without Argon2 there are no passwords here: people sign in with passkeys, or with the provider.
      this.#identity = { ...(oidc && { oidc }), documents: createDocuments(insecure), insecureDocuments: insecure }
      if (rateLimit > 0) this.#rate = new RateLimit(rateLimit, () => Date.now())
    }

    /** Runs a command of the Worker. */
    override async fetch(request: Request): Promise<Response> {
      const command = commandOf(request)
      const requestId = 'requestId' in command ? command.requestId : 'verify'
      const response = await this.#run(command, httpRequestOf(request)).catch((reason) =>
        refusal(reason, requestId, report),
      )
      return fetchResponseOf(response, request.method)
    }

    /** Does what is due. The platform calls again, later each time, while this throws. */
    override async alarm(): Promise<void> {
      this.#alarmAt = null
      const slug = this.ctx.id.name
      if (this.#sql.exists && slug !== undefined) await this.#opened(slug).wake()
    }

    async #run(command: ObjectCommand, request: HttpRequest): Promise<HttpResponse> {
      switch (command.do) {
        case 'answer': {
          const { slug, target, sender, requestId } = command
          this.#baseUrl = target.baseUrl
          const whole = await withBody(request, this.#settings.bodyLimit)
          const { signup, importLimit, queryMs, rowLimit, answerLimit } = this.#settings
          const budget = { ms: queryMs, rows: rowLimit, bytes: answerLimit }
          const { baseUrl } = this.#settings
          const identity = this.#identity
          const app = { routes, signup, report, importLimit, rate: this.#rate, budget, baseUrl, identity }
          return handleRequest(this.#opened(slug), whole, target, sender, requestId, app)
        }
        case 'verify':
          return render(empty(this.#opened(command.slug).identify(command.secret) ? 200 : 404))
        case 'task':
          return this.#runTask(command.slug, command.task, request)
      }
    }

    async #runTask(slug: string, task: ObjectTask, request: HttpRequest): Promise<HttpResponse> {
      const tenant = this.#opened(slug)
      if (task.do === 'replay') return this.#replay(tenant, request)
      if (!this.#sql.exists) throw new Problem('not_found', `There is no tenant ${slug}.`, { id: slug })
      switch (task.do) {
        case 'info':
          return render(json(200, { ...tenant.admin.info(), bytes: this.ctx.storage.sql.databaseSize }))
        case 'verify':
          return render(json(200, { tenant: slug, ...tenant.admin.verify() }))
        case 'log': {
          const pages = tenant.admin.log(await logPart(tenant, task.question))
          return { status: 200, headers: { 'content-type': 'application/x-ndjson' }, body: streamed(pages) }
        }
        case 'delete':
          log('info', 'The operator deleted a tenant', { tenant: slug })
          await this.#erase()
          return render(empty(204))
      }
    }

    async #replay(tenant: Tenant, request: HttpRequest): Promise<HttpResponse> {
      if (request.body === null) throw new Problem('invalid_body', 'Send the lines of a log as the body.')
      const isNew = !this.#sql.exists
      try {
        const { events } = await tenant.admin.replay(request.body as AsyncIterable<Uint8Array>, async () => {})
        // What is kept in addition to the log was replaced: it must be read again.
        this.#tenant = null
        this.#opened(tenant.slug)
        return render(json(201, { tenant: tenant.slug, events }))
      } catch (reason) {
        if (isNew) await this.#erase()
        throw reason
      }
    }

    async #erase(): Promise<void> {
      await this.#tenant?.rest()
      this.#tenant = null
      await this.ctx.storage.deleteAlarm()
      await this.ctx.storage.deleteAll()
      this.#sql = new LazySql(new DurableSql(this.ctx.storage))
    }

    #opened(slug: string): Tenant {
      if (this.#tenant) return this.#tenant
      const { settings, baseUrl } = { settings: this.#settings, baseUrl: () => this.#baseUrl }
      const seed = seedOf(settings)
      const tenant = openTenant(
        slug,
        {
          sql: this.#sql,
          clock: systemClock,
          random: systemRandom,
          seal: systemSeal,
          vault: createVault(settings.secretKey ?? settings.rootKey ?? slug, slug),
          signer: seed === null ? undefined : createSigner(() => seed),
          witnesses: createWitnesses(settings.witnesses, createOutbound(true)),
          alarm: { wakeAt: (at) => this.#wakeAt(at) },
          outbound: createOutbound(settings.webhooksInsecure),
          ...(this.env.LOADER && { script: createScript(this.env.LOADER, slug) }),
          // The answer is held back until what was written is durable, so a commit need not wait for company.
          soon: (run) => queueMicrotask(run),
        },
        {
          ...program,
          get baseUrl() {
            return settings.baseUrl ?? (baseUrl() || `https://${settings.hostSuffix}`)
          },
          // Not the host of a request: who sends one would choose the name that is signed.
          signedUrl: settings.baseUrl ?? `https://${settings.hostSuffix}`,
          changesetDays: settings.changesetDays,
          webhooks: {
            retries: settings.webhookRetries,
            timeoutMs: settings.webhookTimeout,
            insecure: settings.webhooksInsecure,
            keepMs: settings.webhookRetention,
          },
          log,
        },
      )
      this.#tenant = tenant
      const due = tenant.due()
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
        if (this.#alarmAt === at && this.#sql.exists) void this.ctx.storage.setAlarm(later)
      })
    }
  }
}

async function* streamed(pages: Iterable<string>): AsyncGenerator<string> {
  yield* pages
}
