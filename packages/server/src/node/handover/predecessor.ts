import type { Socket } from 'node:net'
import type { TenantRunner } from '../cluster-host.ts'
import { connectToRunning } from './control.ts'
import { JsonLines } from './json-lines.ts'
import type { FromPredecessor } from './messages.ts'

/** What the service that leaves tells of while it does. */
export interface Told {
  readonly book: (slug: string, at: number | null) => void
  readonly record: (action: string, slug: string, facts: object) => void
  /** Called when it has closed everything, or has died. */
  readonly ended: () => void
}

/** The service whose place this one takes. It closes a tenant before the tenant is opened here. */
export class Predecessor {
  readonly #socket: Socket
  readonly #line: JsonLines<FromPredecessor>
  #told: Told = { book() {}, record() {}, ended() {} }
  #hasEnded = false
  readonly #end = Promise.withResolvers<void>()
  #isMine: () => void = () => {}
  readonly #asked = new Map<string, { readonly promise: Promise<void>; readonly done: () => void }>()

  /** Connects to the service that runs on a data folder; null when there is none. */
  static async find(data: string): Promise<Predecessor | null> {
    const socket = await connectToRunning(data)
    return socket === null ? null : new Predecessor(socket)
  }

  private constructor(socket: Socket) {
    this.#socket = socket
    this.#line = new JsonLines(socket)
    this.#line.listen((message) => this.#hear(message))
    void this.#line.closed.then(() => this.#over())
  }

  /** Has it close what the host keeps next to the tenants. From then on requests come here. */
  async takeOver(): Promise<void> {
    await new Promise<void>((done) => {
      this.#isMine = done
      void this.#line.closed.then(done)
      this.#socket.write('succeed\n')
    })
  }

  /** Sets the receiver of reports about its remaining work. */
  listen(told: Told): void {
    this.#told = told
    if (this.#hasEnded) told.ended()
  }

  /** The same tenants; each is opened only when it is closed there. */
  guard(tenants: TenantRunner): TenantRunner {
    return {
      rest: () => tenants.rest(),
      stats: () => tenants.stats(),
      closeAll: () => tenants.closeAll(),
      answer: (slug, request, target, sender, requestId) => {
        if (this.#hasEnded) return tenants.answer(slug, request, target, sender, requestId)
        return this.#release(slug).then(() => tenants.answer(slug, request, target, sender, requestId))
      },
      verify: async (slug, secret) => {
        if (!this.#hasEnded) await this.#release(slug)
        return tenants.verify(slug, secret)
      },
      runTask: async (slug, task) => {
        if (!this.#hasEnded) await this.#release(slug)
        return tenants.runTask(slug, task)
      },
      wake: async (slug) => {
        if (!this.#hasEnded) await this.#release(slug)
        return tenants.wake(slug)
      },
    }
  }

  /** Done when it has closed everything. */
  async ended(): Promise<void> {
    await this.#end.promise
  }

  #release(slug: string): Promise<void> {
    const known = this.#asked.get(slug)
    if (known) return known.promise
    const { promise, resolve: done } = Promise.withResolvers<void>()
    this.#asked.set(slug, { promise, done })
    this.#line.send({ do: 'release', slug })
    return promise
  }

  #hear(message: FromPredecessor): void {
    switch (message.do) {
      case 'yours':
        this.#isMine()
        break
      case 'released':
        this.#asked.get(message.slug)?.done()
        break
      case 'book':
        this.#told.book(message.slug, message.at)
        break
      case 'record':
        this.#told.record(message.action, message.slug, message.facts)
        break
      case 'ended':
        this.#over()
    }
  }

  #over(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#end.resolve()
    for (const { done } of this.#asked.values()) done()
    this.#asked.clear()
    this.#told.ended()
  }
}
