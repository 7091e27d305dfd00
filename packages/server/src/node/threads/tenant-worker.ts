import { type Transferable, Worker } from 'node:worker_threads'
import { Problem } from '@tildebase/nouns'
import type { HttpResponse } from '../../doors/http.ts'
import { refusal } from '../../doors/respond.ts'
import type { TenantCall } from '../../doors/tenant-call.ts'
import { log, report } from '../log.ts'
import { AtWork } from './at-work.ts'
import { Flows, ownBytes, problemFrom, refusalOf } from './flows.ts'
import type { Gate } from './gate.ts'
import {
  FLOWING,
  type Flow,
  type FromWorker,
  type HostCalls,
  isFlowing,
  isStream,
  type Method,
  type ToWorker,
} from './messages.ts'
import { PendingCalls } from './pending-calls.ts'
import { Wire } from './wire.ts'
import type { Start } from './worker.ts'

/** What a worker is started with, and whom it tells. */
interface WorkerOptions {
  readonly name: string
  readonly start: () => Omit<Start, 'atWork'>
  /** Without a word for so long it counts as hanging. */
  readonly patience: number
  readonly book: (slug: string, at: number | null) => void
  /** Called with the tenant that the thread worked on when it ended. Returns whether the tenant is in quarantine now. */
  readonly died: (slug: string) => boolean
  readonly isQuarantined: (slug: string) => boolean
  readonly host: HostCalls
  /** Holds what the thread sends back for a tenant; absent when all of it may leave at once. */
  readonly gate?: Gate | undefined
}

/** Methods whose answers tell what is in a tenant. */
const HELD: ReadonlySet<Method> = new Set(['handle', 'verify', 'task'])
const BEAT = 1_000
const STEADY = 10_000
const SHORTEST_PAUSE = 100
const LONGEST_PAUSE = 30_000
/** A part of a file has 1 MiB. */
const MOST_FOR_OTHERS = 4_194_304
/** Node 22 warns in every thread that its SQLite is experimental. Elsewhere threads inherit the options of the process. */
export const QUIET = process.version.startsWith('v22.') ? { execArgv: ['--disable-warning=ExperimentalWarning'] } : {}

/** A thread of tenants. When it dies or hangs, another takes its place and its tenants open again there. */
export class TenantWorker {
  readonly #options: WorkerOptions
  #thread!: Worker
  #atWork = new AtWork()
  #wire!: Wire<ToWorker, FromWorker>
  #flows!: Flows
  #answers!: GatedAnswers
  readonly #calls = new PendingCalls()
  /** Tenants that are open there: they may have something due. */
  readonly #open = new Set<string>()
  #state: 'up' | 'down' | 'stopping' = 'down'
  #startedAt = 0
  #deaths = 0
  #heart: NodeJS.Timeout | null = null
  /** Beats since the last word of the thread. Counting them, and not the time, forgives a pause of the whole process. */
  #silence = 0
  /** Ends a thread that is to stop and says nothing for long. */
  #patience: NodeJS.Timeout | null = null

  constructor(options: WorkerOptions) {
    this.#options = options
  }

  /** Starts the thread; done when it has read the program and takes calls. */
  start(): Promise<void> {
    const { name, start } = this.#options
    this.#atWork = new AtWork()
    const workerData: Start = { ...start(), atWork: this.#atWork.memory }
    const thread = new Worker(new URL(import.meta.resolve('#threads/tenant')), { name, workerData, ...QUIET })
    this.#thread = thread
    this.#state = 'up'
    this.#startedAt = Date.now()
    this.#silence = 0
    return new Promise((ready, failed) => {
      this.#wire = new Wire<ToWorker, FromWorker>(thread, (message) => {
        this.#silence = 0
        this.#patience?.refresh()
        if (message.do === 'ready') ready()
        else this.#receive(message)
      })
      this.#flows = new Flows(this.#wire)
      this.#answers = new GatedAnswers(this.#options.gate, this.#calls, this.#flows)
      thread.once('error', (reason: Error) => {
        log('error', 'A worker failed', { worker: name, reason: reason.message, stack: reason.stack })
        failed(reason)
      })
      thread.once('exit', () => {
        failed(new Error('The worker ended before it was ready.'))
        this.#bury(thread)
      })
    })
  }

  begin(baseUrl: string): void {
    this.#wire.send({ do: 'begin', baseUrl })
  }

  /** Answers a request when it is the turn of its tenant. */
  handle({ request: { signal, ...request }, ...rest }: TenantCall): Promise<HttpResponse> {
    return this.#inTurn(rest.slug, () => {
      if (signal?.aborted) return Promise.reject(left())
      const answer = this.#send({ ...rest, request })
      const id = this.#calls.last
      signal?.addEventListener('abort', () => this.#calls.has(id) && this.#wire.send({ do: 'abandon', id }))
      return answer
    })
  }

  /** Asks whether a tenant knows a key, when it is the tenant's turn. */
  verify(slug: string, secret: string): Promise<boolean> {
    return this.#inTurn(slug, () => this.call('verify', [slug, secret], undefined, slug))
  }

  #send(call: TenantCall): Promise<HttpResponse> {
    const { slug, request } = call
    const { body } = request
    const send = (sent: unknown, transfer?: Transferable) =>
      this.call<HttpResponse>('handle', [slug, { ...call, request: { ...request, body: sent } }], transfer, slug)
    if (body instanceof Uint8Array) {
      // Bytes with their own buffer are transferred without a copy.
      const bytes = body.length === body.buffer.byteLength ? body : ownBytes(body)
      return send(bytes, bytes.buffer as ArrayBuffer)
    }
    if (!isStream(body)) return send(body)
    const answer = send(FLOWING)
    this.#flows.pour(this.#calls.last, body)
    return answer
  }

  #inTurn<T>(slug: string, begin: () => Promise<T>): Promise<T> {
    return this.#state === 'up' ? this.#calls.inTurn(slug, begin) : Promise.reject(restarting())
  }

  /** Has the thread do something and tell what came of it; `tenant` is the one whose turn it is. */
  call<T>(method: Method, args: readonly unknown[], transfer?: Transferable, tenant: string | null = null): Promise<T> {
    if (this.#state !== 'up') return Promise.reject(restarting())
    const about = HELD.has(method) ? (args[0] as string) : null
    this.#heart ??= setInterval(() => this.#beat(), BEAT).unref()
    return this.#calls.add(about, tenant, (id) => {
      this.#atWork.sent()
      this.#wire.send({ do: 'call', id, method, args }, transfer)
    })
  }

  /** Sends a message without an answer to the thread. */
  tell(message: ToWorker): void {
    if (this.#state === 'up') this.#wire.send(message)
  }

  /**
   * Lets the thread close its tenants and end; ends it when it says nothing for so long. What it did not close is woken by the
   * next start: SQLite closes the files of a thread that is ended, so they do not look like those of a crash.
   */
  async stop(ms: number): Promise<void> {
    const running = this.#state === 'up'
    this.#state = 'stopping'
    if (!running) return
    const ended = new Promise<void>((done) => this.#thread.once('exit', () => done()))
    this.#wire.send({ do: 'stop' })
    this.#wire.flush()
    this.#patience = setTimeout(() => void this.#thread.terminate(), ms)
    await ended
    clearTimeout(this.#patience)
    for (const slug of this.#open) this.#options.book(slug, Date.now())
  }

  #receive(message: FromWorker): void {
    switch (message.do) {
      case 'waits':
        this.#calls.leave(message.id, message.ms)
        break
      case 'return':
      case 'refuse':
        this.#answers.answer(message)
        break
      case 'commit':
        this.#options.gate?.committed(message.slug, message.n, message.changes, message.erases)
        break
      case 'hold':
        this.#answers.pass(
          message.slug,
          () => this.tell({ do: 'pass', id: message.id, isAllowed: true }),
          () => this.tell({ do: 'pass', id: message.id, isAllowed: false }),
        )
        break
      case 'ask':
        void this.#ask(message)
        break
      case 'opened':
        this.#open.add(message.slug)
        this.#options.gate?.opened(message.slug)
        break
      case 'book':
        this.#open.delete(message.slug)
        this.#options.book(message.slug, message.at)
        break
      case 'pong':
      case 'ready':
        break
      case 'chunk':
      case 'end':
      case 'break':
        this.#answers.flow(message)
        break
      default:
        this.#flows.receive(message)
    }
  }

  /** Does in this thread what the other one asks for. */
  async #ask({ id, method, args }: Extract<FromWorker, { do: 'ask' }>): Promise<void> {
    const value =
      method === 'readOther'
        ? await this.#readOther(args[0] as TenantCall)
        : await (this.#options.host[method] as (...args: readonly unknown[]) => unknown)(...args)
    this.tell({ do: 'answer', id, value })
  }

  /** The answer of another tenant, as a whole. */
  async #readOther(call: TenantCall): Promise<HttpResponse> {
    try {
      const answer = await this.#options.host.readOther(call)
      return isStream(answer.body) ? { ...answer, body: await collected(answer.body) } : answer
    } catch (reason) {
      return refusal(reason, call.requestId, report)
    }
  }

  /** Asks for a sign of life while something is awaited. */
  #beat(): void {
    if (this.#calls.size === 0 || this.#state !== 'up') {
      clearInterval(this.#heart!)
      this.#heart = null
      this.#silence = 0
      return
    }
    this.#wire.send({ do: 'ping' })
    if (++this.#silence * BEAT <= this.#options.patience) return
    log('error', 'A worker hangs and is replaced', { worker: this.#options.name, waiting: this.#calls.size })
    this.#state = 'down'
    this.#release()
    void this.#thread.terminate()
  }

  /** Fails all calls that wait for a thread that has ended. */
  #release(): void {
    this.#calls.failAll(restarting)
    // There may be a commit that was not reported.
    this.#options.gate?.died([...this.#open])
    this.#flows.breakAll(restarting())
  }

  /** Puts another thread in the place of one that ended; later each time when they end young. */
  #bury(thread: Worker): void {
    if (thread !== this.#thread) return
    this.#release()
    if (this.#state === 'stopping') return
    this.#state = 'down'
    const tenant = this.#atWork.read()
    const isQuarantined = tenant !== null && this.#blame(tenant)
    // With the cause out of the way there is nothing to wait for.
    this.#deaths = isQuarantined || Date.now() - this.#startedAt > STEADY ? 0 : this.#deaths + 1
    const pause = this.#deaths <= 1 ? 0 : Math.min(SHORTEST_PAUSE * 2 ** this.#deaths, LONGEST_PAUSE)
    log('warn', 'A worker is replaced', { worker: this.#options.name, tenants: this.#open.size, tenant, pause })
    setTimeout(() => void this.#revive().catch(() => {}), pause)
  }

  /** It opens last in the next thread: when it ends that one too, the others have been opened before. */
  #blame(slug: string): boolean {
    if (this.#open.delete(slug)) this.#open.add(slug)
    return this.#options.died(slug)
  }

  /** What fails here is heard of when the new thread ends, too. */
  async #revive(): Promise<void> {
    if (this.#state !== 'down') return
    await this.start()
    const open = [...this.#open].filter((slug) => !this.#options.isQuarantined(slug))
    // With a gate, its owner brings the files in order first and wakes them then.
    if (!this.#options.gate) await Promise.all(open.map((slug) => this.call('wake', [slug])))
  }
}

function restarting(): Problem {
  return new Problem('unavailable', 'The thread of this tenant is being restarted. Try again in a moment.', {
    retryAfter: 1,
  })
}

function left(): Problem {
  return new Problem('unavailable', 'The client disconnected before its turn.', { retryAfter: 1 })
}

type Answer = Extract<FromWorker, { do: 'return' | 'refuse' }>

/** Passes what a thread sends back on to those who wait for it, when the gate of the tenant is open. */
class GatedAnswers {
  readonly #gate: Gate | undefined
  readonly #calls: PendingCalls
  readonly #flows: Flows
  /** The tenants of streams that the gate looks at. */
  readonly #streams = new Map<number, string>()

  constructor(gate: Gate | undefined, calls: PendingCalls, flows: Flows) {
    this.#gate = gate
    this.#calls = calls
    this.#flows = flows
  }

  /** Passes the answer to a call on. */
  answer(message: Answer): void {
    const { id, ms } = message
    const about = this.#calls.about(id)
    this.#calls.leave(id, ms)
    const refuse = () => this.#calls.fail(id, moved())
    if (message.do === 'refuse') {
      this.pass(about, () => this.#calls.fail(id, problemFrom(message.problem)), refuse)
      return
    }
    // The first chunks may be on the heels of the answer: the stream must be there when they come.
    const value = this.#withBody(id, message.value, about)
    this.pass(about, () => this.#calls.answer(id, value), refuse)
  }

  /** Passes a part of a stream on. The streams that share a chunk are of one tenant. */
  flow(message: Flow & { readonly do: 'chunk' | 'end' | 'break' }): void {
    const ids = message.do === 'chunk' ? message.ids : [message.id]
    const slug = this.#streams.size === 0 ? null : (this.#streams.get(ids[0]!) ?? null)
    if (message.do !== 'chunk') this.#streams.delete(message.id)
    const broken = () => {
      for (const id of ids) this.#flows.receive({ do: 'break', id, problem: refusalOf(moved()) })
    }
    this.pass(slug, () => this.#flows.receive(message), broken)
  }

  /** Lets something out when the gate of its tenant is open. */
  pass(slug: string | null, release: () => void, refuse: () => void): void {
    if (slug === null || !this.#gate) release()
    else this.#gate.pass(slug, release, refuse)
  }

  #withBody(id: number, value: unknown, about: string | null): unknown {
    const { body } = (value ?? {}) as Partial<HttpResponse>
    if (!isFlowing(body)) return value
    if (about !== null && this.#gate) this.#streams.set(id, about)
    return { ...(value as HttpResponse), body: this.#flows.drink(id) }
  }
}

function moved(): Problem {
  return new Problem('unavailable', 'Another node has this tenant now, or the log cannot be reached. Try again.', {
    retryAfter: 1,
  })
}

/** The whole of an answer that another thread gets. It asks for large ones in parts. */
async function collected(body: AsyncIterable<Uint8Array | string>): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    chunks.push(Buffer.from(chunk))
    length += chunk.length
    if (length > MOST_FOR_OTHERS) throw new Error('An answer for another thread is too large.')
  }
  return Buffer.concat(chunks)
}
