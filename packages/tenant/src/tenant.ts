import type { JsonObject, Nouns } from '@tildebase/nouns'
import { type Budget, TOO_LONG } from './budget.ts'
import type { CommitListener, Engine, Transaction } from './engine/engine.ts'
import type { Ports, TenantOptions } from './engine/options.ts'
import { done, type Stepwise, TURN } from './engine/turns.ts'
import { TenantAdmin } from './facade/admin.ts'
import { createServices, type TenantServices } from './facade/create-services.ts'
import { TenantFileAccess } from './facade/files.ts'
import { Follower } from './facade/follower.ts'
import { TenantIdentity } from './facade/identity.ts'
import { type LongWrite, LongWrites, type TaskAbout } from './facade/long-writes.ts'
import { Prover } from './facade/prover.ts'
import { TenantReader } from './facade/reader.ts'
import { TenantSubscriptions } from './facade/subscriptions.ts'
import { TenantTasks } from './facade/tasks.ts'
import { TenantWriter } from './facade/writer.ts'
import type { Grant } from './grant/grant.ts'
import type { Sql } from './ports.ts'
import { admitContents } from './services/files/contents.ts'
import type { ReceivedContent } from './services/files/receive.ts'
import { type Preview, preview } from './services/integrations/preview.ts'
import type { IntegrationRun } from './services/integrations/run.ts'
import { type CheckedCredentials, checkCredentials } from './services/integrations/verbs.ts'
import { checkCode } from './services/scripts/check.ts'
import { type CodeResult, type CodeWriter, runCode } from './services/scripts/do.ts'
import type { TrialRunner } from './services/scripts/dry-run.ts'
import { runWrite } from './services/scripts/run-write.ts'
import { testWebhook } from './services/webhooks/records.ts'
import { testWorkflow } from './services/workflows/dry-run.ts'
import { GroupCommit } from './write/group-commit.ts'
import { computingOnce } from './write/verb.ts'
import type { Write, WriteContext } from './write/write.ts'

/** The context of a write from a door, besides the grant. */
export type RequestContext = Partial<Pick<WriteContext, 'correlation' | 'trace' | 'secrets' | 'lens'>> & {
  /** What `$context` shows in entities; the tenant's own namespace when absent. */
  readonly context?: string
  /** Content that was received for the write, and becomes part of the tenant with it. */
  readonly contents?: readonly ReceivedContent[]
}

/**
 * A tenant, as doors and hosts use it. What it gives out is already narrowed: by a grant and a budget for requests, by
 * `admin` for the operator. Nothing here leads to the database.
 */
export class Tenant {
  readonly slug: string
  readonly admin: TenantAdmin
  readonly identity: TenantIdentity
  readonly files: TenantFileAccess
  readonly subscriptions: TenantSubscriptions
  readonly #engine: Engine
  readonly #services: TenantServices
  readonly #commits: GroupCommit
  readonly #longWrites: LongWrites
  readonly tasks: TenantTasks

  constructor(services: TenantServices, open: (sql: Sql) => TenantServices) {
    const { engine } = services.transactor
    this.slug = engine.slug
    this.#engine = engine
    this.#services = services
    this.#commits = new GroupCommit(engine, engine.ports.soon ?? queueMicrotask)
    this.#longWrites = new LongWrites(services, open, this.#commits)
    if (engine.sql.long) services.transactor.long = (grant, context, work) => this.#writeAside(grant, context, work)
    this.tasks = new TenantTasks(services, this.#longWrites)
    this.admin = new TenantAdmin(engine)
    this.identity = new TenantIdentity(engine, services.people)
    this.files = new TenantFileAccess(services)
    this.subscriptions = new TenantSubscriptions(engine)
  }

  /** The tenant's namespace, as events show it. */
  get context(): string {
    return this.#engine.context
  }

  /** The tenant's types. */
  get nouns(): Nouns {
    return this.#engine.nouns
  }

  /** Whether anything was ever written. */
  get exists(): boolean {
    return this.#engine.head.seq > 0
  }

  /** Whether it has neither events nor files. */
  get isEmpty(): boolean {
    return !this.exists && !this.files.hasAny
  }

  /** The grant of a key, an access token or a session; null when the secret opens nothing. */
  identify(secret: string): Grant | null {
    if (secret.startsWith('tb_')) return this.#services.keys.grantOf(secret)
    return this.#services.people.accessGrant(secret) ?? this.#services.people.sessionGrant(secret)
  }

  /** The tenant as a grant may read it. */
  read(grant: Grant, budget: Budget, context: string = this.context): TenantReader {
    return new TenantReader(this.#services, grant, budget, context, true)
  }

  /** Runs a write in the next commit. Its result comes when that is durable; stored BEFORE hooks are asked first. */
  write<T>(
    grant: Grant,
    request: RequestContext,
    budget: Budget,
    work: (write: TenantWriter) => Stepwise<T>,
  ): Promise<T> {
    const { context = this.context, contents = [], ...rest } = request
    const written = this.#write(grant, { ...rest, budget, url: context }, (write) => {
      admitContents(write, contents)
      return budget.time(() => done(work(new TenantWriter(this.#services, write, context))))
    })
    return contents.length === 0 ? written : written.finally(() => this.files.dropUnneeded(contents))
  }

  /** The same for a write that may take long: then nothing of it is in that commit, and it becomes a task. */
  writeOrBegin<T>(
    grant: Grant,
    request: RequestContext,
    budget: Budget,
    about: () => TaskAbout<T>,
    work: (write: TenantWriter, isLong: boolean) => Stepwise<T>,
  ): Promise<T | LongWrite<T>> {
    const { contents = [] } = request
    if (!this.#engine.sql.long || contents.length > 0)
      return this.write(grant, request, budget, (write) => work(write, false))
    const { context = this.context, ...rest } = request
    const own = { ...rest, budget, url: context }
    return this.#attempt(grant, own, budget, (write) =>
      work(new TenantWriter(this.#services, write, context), false),
    ).catch((reason) => {
      if (reason !== TOO_LONG) throw reason
      return this.#longWrites.begin(about(), grant, own, (write, services) =>
        work(new TenantWriter(services, write, context), true),
      )
    })
  }

  /** Asks the provider of an integration whether credentials are valid; null for one without a connector. */
  checkCredentials(grant: Grant, id: string, body: unknown): Promise<CheckedCredentials | null> {
    return checkCredentials(this.#engine, grant, id, body)
  }

  /** Records of a connected integration as a mapping would write them. */
  previewIntegration(grant: Grant, id: string, body: unknown): Promise<Preview> {
    return preview(this.#engine, grant, id, body)
  }

  /** The run of an integration that is in progress; null if there is none. */
  integrationRun(id: string): IntegrationRun | null {
    return this.#services.integrations.runOf(id)
  }

  /** Stops the run of an integration; false if there is none. */
  stopIntegration(grant: Grant, id: string): boolean {
    return this.#services.integrations.stop(grant, id)
  }

  /** The log as a grant sees it, while it continues. */
  follow(grant: Grant): Follower {
    return new Follower(this.#services, grant)
  }

  /** What the tenant proves about its log to a grant. */
  prove(grant: Grant): Prover {
    return new Prover(this.#services, grant)
  }

  /** Whether the host runs code. */
  get runsCode(): boolean {
    return this.#engine.ports.script !== undefined
  }

  /** Whether the host keeps files. */
  get keepsFiles(): boolean {
    return this.#engine.ports.blobs !== undefined
  }

  /** Runs code with the rights of a grant. */
  runCode(grant: Grant, request: RequestContext, budget: Budget, body: unknown): Promise<CodeResult> {
    const { context: url, ...rest } = request
    const context = { ...rest, url: url ?? null, budget }
    return runCode(this.#services.transactor, grant, context, this.#codeWriter(grant, context), body)
  }

  #codeWriter(grant: Grant, context: Partial<WriteContext> & { readonly budget: Budget }): CodeWriter {
    return {
      toEnd: (more, work, excuse) =>
        this.#writeOfCode(grant, { ...context, ...more }, work, (write) => computingOnce(write, work), excuse),
      tried: (more, work, excuse) => this.#writeOfCode(grant, { ...context, ...more }, work, work, excuse),
    }
  }

  /** Runs a write of code in the next commit, or as a task. */
  async #writeOfCode<T>(
    grant: Grant,
    context: Partial<WriteContext> & { readonly budget: Budget },
    work: (write: Write) => Stepwise<T>,
    inTask: (write: Write) => Stepwise<T>,
    excuse?: (task: Promise<unknown>) => void,
  ): Promise<T> {
    if (!this.#engine.sql.long) return this.#write(grant, context, (write) => done(work(write)))
    return this.#attempt(grant, context, context.budget, work).catch((reason) => {
      if (reason !== TOO_LONG) throw reason
      const about = { title: 'do', result: () => ({}), isDryRun: context.isDryRun === true }
      const task = this.#longWrites.begin(about, grant, context, inTask).done
      excuse?.(task)
      return task
    })
  }

  /** Refuses code that cannot be stored as a hook. */
  checkHookCode(code: string): Promise<void> {
    return checkCode(this.#engine, code)
  }

  /**
   * Brings an index up to the log, in slices with turns for others in between: that of the past, or that of words too. For
   * questions, which would otherwise do so all at once. Undefined when there is little to do.
   */
  catchUp(index: 'words' | 'past'): Promise<void> | undefined {
    return this.#services.indexing.isFarBehind(index) ? this.#catchUp(index) : undefined
  }

  async #catchUp(index: 'words' | 'past'): Promise<void> {
    const { soon = queueMicrotask } = this.#engine.ports
    const { sql } = this.#engine
    const { indexing } = this.#services
    for (let isDone = false; !isDone && !this.isClosed; ) {
      await (sql.ready?.(1) ?? new Promise<void>((done) => soon(done)))
      if (!sql.ready?.(1)) isDone = index === 'words' ? indexing.runSlice() : indexing.foldSlice()
    }
  }

  /** Sends a test event to a webhook and returns how that went. */
  testWebhook(grant: Grant, id: string): Promise<JsonObject> {
    return testWebhook(this.#services.transactor, grant, id)
  }

  /** Runs a workflow on an event without a trace, and returns what each step would do. */
  testWorkflow(grant: Grant, request: RequestContext, budget: Budget, id: string, body: unknown): Promise<JsonObject> {
    const { context: _, ...rest } = request
    const context = { ...rest, budget, isDryRun: true }
    const run =
      (of: Grant): TrialRunner =>
      (work, excuse) =>
        this.#writeOfCode(of, context, work, work, excuse)
    return testWorkflow(this.#engine, grant, id, body, run)
  }

  /** How many writes wait for the next commit. */
  get waiting(): number {
    return this.#commits.waiting
  }

  /** How much is in progress that belongs to no request. A tenant with any is not closed. */
  get underWay(): number {
    return this.#engine.scheduler.underWay + this.#longWrites.size
  }

  get isResting(): boolean {
    return this.#engine.scheduler.isResting
  }

  /** When the next job is due, or null; `asleep` leaves out what no closed tenant is opened for. */
  due(asleep = false): number | null {
    return this.#engine.scheduler.due(asleep)
  }

  /** Runs the jobs that are due. */
  wake(): Promise<void> {
    return this.#engine.scheduler.wake()
  }

  /** Starts nothing new, ends the streams, and waits for what is in progress. */
  async rest(): Promise<void> {
    await this.#longWrites.rest()
    await this.#engine.scheduler.rest()
  }

  /** Writes down what is in memory only, before the database is closed. */
  flush(): void {
    this.#engine.scheduler.flush()
  }

  /** Says that the database is closed now. */
  closed(): void {
    this.#engine.scheduler.isClosed = true
  }

  get isClosed(): boolean {
    return this.#engine.scheduler.isClosed
  }

  /** Calls `listener` with the events of every commit from now on. Returns how to stop it. */
  listen(listener: CommitListener): () => void {
    return this.#engine.listen(listener)
  }

  #write<T>(grant: Grant, context: Partial<WriteContext>, work: (write: Write) => T): Promise<T> {
    const commit = <R>(one: (transaction: Transaction) => R) => {
      this.#longWrites.demandRoom()
      return this.#commits.run(one)
    }
    return runWrite(this.#services.transactor, commit, grant, context, work)
  }

  /** Runs a write in the next commit. One that takes too long for that ends with TOO_LONG, and leaves nothing. */
  #attempt<T>(
    grant: Grant,
    context: Partial<WriteContext>,
    budget: Budget,
    work: (write: Write) => Stepwise<T>,
  ): Promise<T> {
    let isTooLong = false
    return this.#write(grant, context, (write) => {
      // A commit in which a write fails is run again, without a second attempt of this one.
      if (isTooLong) throw TOO_LONG
      try {
        return budget.slice(TURN.attempt, () => done(work(write)))
      } catch (reason) {
        isTooLong = reason === TOO_LONG
        throw reason
      }
    })
  }

  /** Runs a write of background work as a task. Its result comes when others may write again. */
  async #writeAside<T>(grant: Grant, context: Partial<WriteContext>, work: (write: Write) => Stepwise<T>): Promise<T> {
    const waiter = `${grant.actor} ${context.correlation ?? ''}`
    const about = { title: grant.actor, result: () => ({}), isDryRun: false, waiter }
    const { done: result, ended } = this.#longWrites.begin(about, grant, context, (write) => computingOnce(write, work))
    await ended
    return result
  }
}

/** Opens a tenant on a database. */
export function openTenant(slug: string, ports: Ports, options: TenantOptions): Tenant {
  const open = (sql: Sql) => createServices(slug, { ...ports, sql }, options)
  return new Tenant(open(ports.sql), open)
}
