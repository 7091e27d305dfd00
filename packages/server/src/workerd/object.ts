import { DurableObject, type DurableObjectState } from 'cloudflare:workers'
import { isoOf, Problem } from '@tildebase/nouns'
import {
  type Engine,
  GroupCommit,
  grantOf,
  type LogPart,
  openTenant,
  portableLog,
  replay,
  summaryOf,
  verify,
} from '@tildebase/tenant'
import { handleRequest, type OpenTenant } from '../app.ts'
import { fetchResponseOf, httpRequestOf, withBody } from '../fetch-adapter.ts'
import { empty, type HttpRequest, type HttpResponse, json } from '../http.ts'
import { logPart } from '../log-request.ts'
import { readSettings } from '../node/config.ts'
import { systemClock, systemRandom, systemSeal } from '../node/ports.ts'
import type { Program } from '../program.ts'
import { RateLimit } from '../rate.ts'
import { refusal } from '../respond.ts'
import { routes } from '../route-table.ts'
import type { Env } from './env.ts'
import { LazySql } from './lazy-sql.ts'
import { log, report } from './log.ts'
import { commandOf, type ObjectCommand, type Task } from './object-command.ts'
import { createOutbound } from './outbound.ts'
import { DurableSql } from './sql.ts'

/** The Durable Object of a tenant, for a program of nouns and hooks. */
export function tenantObject(program: Program) {
  return class TenantObject extends DurableObject<Env> {
    #sql: LazySql
    #open: OpenTenant | null = null
    #baseUrl = ''
    #alarmAt: number | null = null
    readonly #settings
    readonly #rate: RateLimit | undefined

    constructor(ctx: DurableObjectState, env: Env) {
      super(ctx, env)
      this.#settings = readSettings({}, env as never)
      this.#sql = new LazySql(new DurableSql(ctx.storage))
      const { rateLimit } = this.#settings
      if (rateLimit > 0) this.#rate = new RateLimit(rateLimit, () => Date.now())
    }

    /** Runs an errand of the Worker. */
    override async fetch(request: Request): Promise<Response> {
      const errand = commandOf(request)
      const requestId = 'requestId' in errand ? errand.requestId : 'verify'
      const given = await this.#run(errand, httpRequestOf(request)).catch((reason) =>
        refusal(reason, requestId, report),
      )
      return fetchResponseOf(given, request.method)
    }

    /** Does what is due. The platform calls again, later each time, while this throws. */
    override async alarm(): Promise<void> {
      this.#alarmAt = null
      const slug = this.ctx.id.name
      if (this.#sql.exists && slug !== undefined) await this.#enter(slug).tenant.wake()
    }

    async #run(errand: ObjectCommand, ask: HttpRequest): Promise<HttpResponse> {
      switch (errand.do) {
        case 'answer': {
          const { slug, place, sender, requestId } = errand
          this.#baseUrl = place.baseUrl
          const whole = await withBody(ask, this.#settings.bodyLimit)
          const { signup, importLimit } = this.#settings
          const app = { routes, signup, report, importLimit, rate: this.#rate }
          return handleRequest(this.#enter(slug), whole, place, sender, requestId, app)
        }
        case 'verify':
          return empty(grantOf(this.#enter(errand.slug).tenant, errand.secret) ? 200 : 404)
        case 'keep':
          return this.#keep(errand.slug, errand.task, ask)
      }
    }

    async #keep(slug: string, task: Task, ask: HttpRequest): Promise<HttpResponse> {
      const { tenant } = this.#enter(slug)
      if (task.do === 'replay') return this.#replay(tenant, ask)
      if (!this.#sql.exists) throw new Problem('not_found', `There is no tenant ${slug}.`, { id: slug })
      switch (task.do) {
        case 'info':
          return json(200, info(tenant, this.ctx.storage.sql.databaseSize))
        case 'verify':
          return json(200, { tenant: slug, ...verify(tenant) })
        case 'log':
          return logAnswer(tenant, await logPart(tenant, task.question))
        case 'delete':
          await this.#erase()
          return empty(204)
      }
    }

    async #replay(tenant: Engine, ask: HttpRequest): Promise<HttpResponse> {
      if (ask.body === null) throw new Problem('invalid_body', 'Send the lines of a log as the body.')
      const isNew = !this.#sql.exists
      try {
        const { events } = await replay(tenant, ask.body as AsyncIterable<Uint8Array>, async () => {})
        // What stands beside the log was replaced: whoever has read it must read it again.
        this.#open = null
        return json(201, { tenant: tenant.slug, events })
      } catch (reason) {
        if (isNew) await this.#erase()
        throw reason
      }
    }

    async #erase(): Promise<void> {
      await this.#open?.tenant.rest()
      this.#open = null
      await this.ctx.storage.deleteAlarm()
      await this.ctx.storage.deleteAll()
      this.#sql = new LazySql(new DurableSql(this.ctx.storage))
    }

    #enter(slug: string): OpenTenant {
      if (this.#open) return this.#open
      const { settings, baseUrl } = { settings: this.#settings, baseUrl: () => this.#baseUrl }
      const tenant = openTenant(
        slug,
        {
          sql: this.#sql,
          clock: systemClock,
          random: systemRandom,
          seal: systemSeal,
          alarm: { wakeAt: (at) => this.#wakeAt(at) },
          outbound: createOutbound(settings.webhooksInsecure),
        },
        {
          ...program,
          get baseUrl() {
            return settings.baseUrl ?? (baseUrl() || `https://${settings.hostSuffix}`)
          },
          webhooks: {
            retries: settings.webhookRetries,
            timeoutMs: settings.webhookTimeout,
            insecure: settings.webhooksInsecure,
            keepMs: settings.webhookRetention,
          },
          log,
        },
      )
      // The answer is held back until what was written is durable, so a commit need not wait for company.
      this.#open = { tenant, commits: new GroupCommit(tenant, (run) => queueMicrotask(run)) }
      const due = tenant.due()
      if (due !== null) this.#wakeAt(due)
      return this.#open
    }

    /** There is one alarm: the earliest time asked for. */
    #wakeAt(at: number): void {
      if (this.#alarmAt !== null && this.#alarmAt <= at) return
      this.#alarmAt = at
      // After the transaction under way: what is undone with it needs no alarm.
      queueMicrotask(() => {
        // Never for the time of an alarm that runs: the host would take it for that one, and forget it at its end.
        const later = Math.max(at, Date.now() + 1)
        if (this.#alarmAt === at && this.#sql.exists) void this.ctx.storage.setAlarm(later)
      })
    }
  }
}

function info(tenant: Engine, bytes: number): object {
  const { first, entities } = summaryOf(tenant)
  return {
    tenant: tenant.slug,
    bytes,
    events: tenant.head.seq,
    entities,
    createdAt: first === null ? null : isoOf(first),
    updatedAt: isoOf(tenant.head.at),
  }
}

function logAnswer(tenant: Engine, part: LogPart): HttpResponse {
  const pages = async function* () {
    yield* portableLog(tenant, part)
  }
  return { status: 200, headers: { 'content-type': 'application/x-ndjson' }, body: pages() }
}
