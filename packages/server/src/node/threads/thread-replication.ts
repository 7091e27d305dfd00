import { join, sep } from 'node:path'
import type { Transferable } from 'node:worker_threads'
import type { Replication } from '../tenants/replication.ts'
import type { FromWorker, ToWorker } from './messages.ts'

/** Replication as a worker thread has it: it passes commits, and answers that wait for them, to the gateway's thread. */
export class ThreadReplication implements Replication {
  readonly #folder: string
  readonly #send: (message: FromWorker, transfer?: Transferable) => void
  readonly #held = new Map<number, (isAllowed: boolean) => void>()
  /** The tenants of this node, and from which time on. */
  readonly #from = new Map<string, number>()
  #until = Number.POSITIVE_INFINITY
  #last = 0

  constructor(data: string, send: (message: FromWorker, transfer?: Transferable) => void) {
    this.#folder = join(data, 'tenants') + sep
    this.#send = send
  }

  covers(path: string): boolean {
    return path.startsWith(this.#folder)
  }

  committed(slug: string, n: number, changes: Uint8Array, erases: boolean): void {
    this.#send({ do: 'commit', slug, n, changes, erases }, changes.buffer as ArrayBuffer)
  }

  gate(slug: string): Promise<boolean> {
    const id = ++this.#last
    this.#send({ do: 'hold', id, slug })
    return new Promise((done) => this.#held.set(id, done))
  }

  isHere(slug: string): boolean {
    return this.#from.has(slug)
  }

  left(slug: string): void {
    this.#from.delete(slug)
  }

  now(slug: string): number {
    return Math.max(Math.min(Date.now(), this.#until), this.#from.get(slug) ?? 0)
  }

  receive(message: Extract<ToWorker, { do: 'pass' | 'clock' | 'clockLimit' }>): void {
    if (message.do === 'clock') this.#from.set(message.slug, message.from)
    else if (message.do === 'clockLimit') this.#until = message.until
    else {
      this.#held.get(message.id)?.(message.isAllowed)
      this.#held.delete(message.id)
    }
  }
}
