import { type Engine, GroupCommit, grantOf, type Outbound, openTenant, type TenantOptions } from '@tildebase/tenant'
import { type AppOptions, handleRequest, type OpenTenant, type Sender, unauthorized } from '../app.ts'
import type { Tenants } from '../gateway.ts'
import type { HttpRequest, HttpResponse, MaybePromise } from '../http.ts'
import { refusal } from '../respond.ts'
import type { RequestTarget } from '../target.ts'
import { type AdminTask, runAdminTask } from './admin-tasks.ts'
import { followed, held } from './bodies.ts'
import type { TenantFiles } from './files.ts'
import { systemClock, systemRandom, systemSeal } from './ports.ts'
import type { NodeScript } from './script/script.ts'
import { openSql } from './sql.ts'
import { WakeTimers } from './wake-timers.ts'
import { countCommit, type Stats } from './watch/stats.ts'

export interface LocalTenantsOptions {
  readonly files: TenantFiles
  readonly app: AppOptions
  readonly tenant: TenantOptions
  readonly outbound?: Outbound
  readonly script?: NodeScript
  /** What this thread counts. */
  readonly stats: Stats
  /** How many tenants are kept open; the one unused for longest is closed first. */
  readonly mostOpen: number
  /** Books when a tenant that is being closed is to be woken again. */
  readonly book: (slug: string, at: number | null) => void | Promise<void>
  /** Told when a tenant has been opened. */
  readonly opened?: (slug: string) => void
}

type Request = [ask: HttpRequest, place: RequestTarget, sender: Sender, requestId: string]
type Body = AsyncIterable<string | Uint8Array>

/** How long a stop waits for what tenants do by themselves. */
const REST_MS = 5_000

/** KiB of memory for the files of open tenants: the more there are, the less a new one keeps. */
const CACHES = 262_144
const MOST_CACHE = 16_384
const LEAST_CACHE = 2_000

interface Room extends OpenTenant {
  readonly close: () => void
  /** Requests under way: a tenant in use is not closed. */
  busy: number
}

/** The tenants of this thread: opened when asked for, closed when others need the room. */
export class LocalTenants implements Tenants {
  readonly #options: LocalTenantsOptions
  /** In the order of their last use. */
  readonly #rooms = new Map<string, Room>()
  /** The one used last. */
  #newest: Room | null = null
  /** Rooms on no disk that are in use, by those who read a tenant that does not exist. */
  readonly #vacancies = new Map<string, Set<Room>>()
  readonly #wakes = new WakeTimers((slug) => void this.wake(slug))

  constructor(options: LocalTenantsOptions) {
    this.#options = options
  }

  /** What the tenants have done, and what they have before them. */
  async stats(): Promise<Stats> {
    const waiting = [...this.#rooms.values()].reduce((sum, { commits }) => sum + commits.waiting, 0)
    return { ...this.#options.stats, open: this.#rooms.size, waiting }
  }

  answer(
    slug: string,
    ask: HttpRequest,
    place: RequestTarget,
    sender: Sender,
    requestId: string,
  ): MaybePromise<HttpResponse> {
    let room: Room
    let fresh = false
    try {
      const there = this.#rooms.has(slug) || this.#options.files.has(slug)
      if (!there && sender.kind === 'secret') throw unauthorized()
      // Whoever has no key learns nothing, not even how long it takes to look.
      const mayBeFirst = this.#options.app.signup && ask.method === 'POST'
      if (sender.kind === 'nobody' && !mayBeFirst) throw unauthorized()
      fresh = !there && ask.method !== 'GET' && ask.method !== 'HEAD'
      room = there || fresh ? this.#enter(slug) : this.#vacant(slug)
    } catch (reason) {
      return refusal(reason, requestId, this.#options.app.report)
    }
    this.#use(slug, room)
    const over = (given: HttpResponse): HttpResponse => {
      this.#leave(slug, room)
      // A first write that was refused has written nothing: it leaves no tenant behind.
      if (fresh && room.tenant.head.seq === 0 && isIdle(room)) this.#discard(slug)
      if (!holdsOn(given)) return given
      const body = held(
        given.body,
        () => this.#use(slug, room),
        () => this.#leave(slug, room),
      )
      if (this.#rooms.get(slug) === room) return { ...given, body }
      return { ...given, body: followed(body, () => this.#movedIn(slug, ask, place, sender, requestId)) }
    }
    const given = handleRequest(room, ask, place, sender, requestId, this.#options.app)
    return given instanceof Promise ? given.then(over) : over(given)
  }

  async verify(slug: string, secret: string): Promise<boolean> {
    if (!this.#rooms.has(slug) && !this.#options.files.has(slug)) return false
    return grantOf(this.#enter(slug).tenant, secret) !== null
  }

  /** Opens a tenant and does what is due in it. */
  async wake(slug: string): Promise<void> {
    if (!this.#options.files.has(slug)) return
    const room = this.#enter(slug)
    room.busy++
    try {
      await room.tenant.wake()
    } catch (reason) {
      this.#options.app.report(reason, `wake ${slug}`)
    } finally {
      room.busy--
    }
  }

  /** Does what the operator asks of a tenant as a whole. */
  async keep(slug: string, task: AdminTask): Promise<unknown> {
    const { files, tenant: options } = this.#options
    const use = (name: string) => this.#enter(name)
    const during = async <T>(name: string, work: (tenant: Engine) => Promise<T>) => {
      const room = this.#enter(name)
      room.busy++
      try {
        return await work(room.tenant)
      } finally {
        room.busy--
      }
    }
    return runAdminTask({ files, options, use, during, close: (name) => this.close(name) }, slug, task)
  }

  /** Closes a tenant, so that its file is whole and alone. */
  close(slug: string): void {
    const room = this.#rooms.get(slug)
    if (!room) return
    this.#rooms.delete(slug)
    this.#shut(slug, room)
  }

  /** Ends every stream and starts nothing new; waits a while for deliveries and hooks that are under way. */
  async rest(): Promise<void> {
    const rooms = [...this.#rooms.values(), ...[...this.#vacancies.values()].flatMap((vacant) => [...vacant])]
    const resting = Promise.all(rooms.map(({ tenant }) => tenant.rest()))
    const late = new Promise((done) => setTimeout(done, REST_MS).unref())
    await Promise.race([resting, late])
  }

  async closeAll(): Promise<void> {
    await this.rest()
    await this.#options.script?.close()
    for (const slug of [...this.#rooms.keys()]) this.close(slug)
  }

  #enter(slug: string): Room {
    const known = this.#rooms.get(slug)
    if (known) {
      if (known !== this.#newest) {
        this.#rooms.delete(slug)
        this.#rooms.set(slug, known)
        this.#newest = known
      }
      return known
    }
    if (!this.#options.files.has(slug)) this.#options.files.create(slug)
    const room = this.#furnish(slug, this.#options.files.pathOf(slug))
    this.#rooms.set(slug, room)
    this.#newest = room
    this.#announce(slug, room)
    this.#options.opened?.(slug)
    this.#makeRoom()
    const due = room.tenant.due()
    if (due !== null) this.#wakes.book(slug, due)
    return room
  }

  /** A tenant that does not exist, for reading: empty, and on no disk. Whoever follows it moves once it does exist. */
  #vacant(slug: string): Room {
    return this.#furnish(slug, ':memory:')
  }

  /** What a stream of a tenant that did not exist goes on with, now that it does. */
  async #movedIn(slug: string, ...rest: Request): Promise<Body | null> {
    if (!this.#rooms.has(slug)) return null
    const answer = await this.answer(slug, ...rest)
    return holdsOn(answer) ? answer.body : null
  }

  #use(slug: string, room: Room): void {
    room.busy++
    if (this.#rooms.get(slug) === room) return
    this.#vacancies.set(slug, (this.#vacancies.get(slug) ?? new Set()).add(room))
  }

  #leave(slug: string, room: Room): void {
    room.busy--
    if (this.#vacancies.size === 0) return
    const vacant = this.#vacancies.get(slug)
    if (room.busy === 0 && vacant?.delete(room) && vacant.size === 0) this.#vacancies.delete(slug)
  }

  /** Tells whoever follows the tenant while it does not exist that now it does. */
  #announce(slug: string, room: Room): void {
    if (room.tenant.head.seq > 0) return
    const stop = room.tenant.listen(() => {
      stop()
      for (const vacant of this.#vacancies.get(slug) ?? []) void vacant.tenant.rest()
    })
  }

  #furnish(slug: string, path: string): Room {
    const cacheKiB = Math.max(LEAST_CACHE, Math.min(MOST_CACHE, Math.floor(CACHES / (this.#rooms.size + 1))))
    const sql = openSql(path, { cacheKiB })
    try {
      const { outbound, script } = this.#options
      const alarm = { wakeAt: (at: number) => this.#rooms.has(slug) && this.#wakes.book(slug, at) }
      const ports = { sql, clock: systemClock, random: systemRandom, seal: systemSeal, alarm, outbound, script }
      const tenant = openTenant(slug, ports, this.#options.tenant)
      const commits: GroupCommit = new GroupCommit(tenant, (run) =>
        setImmediate(() => {
          countCommit(this.#options.stats, commits.waiting)
          run()
        }),
      )
      return {
        tenant,
        commits,
        close: () => {
          tenant.isClosed = true
          sql.close()
        },
        busy: 0,
      }
    } catch (reason) {
      sql.close()
      throw reason
    }
  }

  #makeRoom(): void {
    for (const [slug, room] of this.#rooms) {
      if (this.#rooms.size <= this.#options.mostOpen) return
      if (isIdle(room)) this.close(slug)
    }
  }

  #shut(slug: string, room: Room): void {
    this.#wakes.cancel(slug)
    try {
      room.tenant.leave()
      void this.#options.book(slug, room.tenant.due(true))
    } catch (reason) {
      // A damaged file cannot tell what is due; the others are to be closed all the same.
      this.#options.app.report(reason, `close ${slug}`)
    } finally {
      room.close()
    }
  }

  #discard(slug: string): void {
    const room = this.#rooms.get(slug)
    if (!room) return
    this.#rooms.delete(slug)
    this.#wakes.cancel(slug)
    room.close()
    this.#options.files.remove(slug)
  }
}

function isIdle({ busy, commits, tenant }: Room): boolean {
  return busy === 0 && commits.waiting === 0 && tenant.underWay === 0
}

function holdsOn(answer: HttpResponse): answer is HttpResponse & { body: AsyncIterable<string | Uint8Array> } {
  return typeof answer.body === 'object' && answer.body !== null && Symbol.asyncIterator in answer.body
}
