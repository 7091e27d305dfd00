import { parentPort, workerData } from 'node:worker_threads'
import { type HttpResponse, isLasting, runsCode } from '../../doors/http.ts'
import type { TenantCall } from '../../doors/tenant-call.ts'
import { scheduler } from '../../doors/turns.ts'
import { loadProgram, type Settings } from '../../host/settings/settings.ts'
import { report } from '../log.ts'
import { TenantFiles } from '../sqlite/files.ts'
import { localTenants } from '../tenants/local.ts'
import { AtWork } from './at-work.ts'
import { Flows, ownBytes, refusalOf } from './flows.ts'
import {
  FLOWING,
  type FromWorker,
  type HostCalls,
  isFlowing,
  isStream,
  type Method,
  type ToWorker,
} from './messages.ts'
import { ThreadReplication } from './thread-replication.ts'
import { Wire } from './wire.ts'

/** What a worker is started with. */
export interface Start {
  readonly settings: Settings
  readonly baseUrl: string
  /** Where the worker says which tenant it works on. */
  readonly atWork: SharedArrayBuffer
}

/** How long a call that is not answered keeps its place. */
const SWEEP_MS = 10

const { settings, baseUrl: first, atWork: memory } = workerData as Start
const atWork = new AtWork(memory)
let baseUrl = first
const program = await loadProgram(settings.config)
const replication =
  settings.cluster === null
    ? undefined
    : new ThreadReplication(settings.data, (message, transfer) => wire.send(message, transfer))
const tenants = localTenants(settings, program, new TenantFiles(settings.data), {
  baseUrl: () => baseUrl,
  book: (slug, at) => wire.send({ do: 'book', slug, at }),
  atWork: (slug) => atWork.turnTo(slug),
  opened: (slug) => wire.send({ do: 'opened', slug }),
  worked: use,
  isAwaited: () => atWork.isAwaited || fresh.size > 0,
  replication,
  readOther: (call) => ask('readOther', call),
  setAlarm: (slug, at) => ask('setAlarm', slug, at),
  claimAddresses: (slug, addresses) => ask('claimAddresses', slug, addresses),
})
/** Calls of the gateway's thread that wait for their answers. */
const asked = new Map<number, (value: never) => void>()
let lastAsked = 0
/** Milliseconds that tenants used since the last report. */
const used = new Map<string, number>()
/** Calls whose client may leave. */
const clients = new Map<number, AbortController>()
/** Calls that are not answered yet, with their tenants. */
const fresh = new Map<number, string>()
let isSweeping = false
const port = parentPort!
const wire: Wire<FromWorker, ToWorker> = new Wire(port, receive)
const flows: Flows = new Flows(wire)
scheduler.beforeLater = () => wire.flush()
wire.send({ do: 'ready' })

function receive(message: ToWorker): void {
  switch (message.do) {
    case 'call':
      atWork.received()
      void call(message.id, message.method, message.args)
      break
    case 'abandon':
      clients.get(message.id)?.abort()
      break
    case 'begin':
      baseUrl = message.baseUrl
      break
    case 'ping':
      wire.send({ do: 'pong' })
      break
    case 'pass':
    case 'clock':
    case 'clockLimit':
      replication?.receive(message)
      break
    case 'answer':
      asked.get(message.id)?.(message.value as never)
      asked.delete(message.id)
      break
    case 'stop':
      void tenants.close().finally(() => {
        wire.flush()
        process.exit()
      })
      break
    default:
      flows.receive(message)
  }
}

function ask<M extends keyof HostCalls>(method: M, ...args: Parameters<HostCalls[M]>): Promise<Asked<M>> {
  return new Promise((answered) => {
    asked.set(++lastAsked, answered)
    wire.send({ do: 'ask', id: lastAsked, method, args })
  })
}

type Asked<M extends keyof HostCalls> = Awaited<ReturnType<HostCalls[M]>>

async function call(id: number, method: Method, args: readonly unknown[]): Promise<void> {
  try {
    if (method === 'handle') return await handle(id, args[1] as TenantCall)
    const value = await (tenants[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args)
    wire.send({ do: 'return', id, value, ms: usedBy(args[0]) })
  } catch (reason) {
    const problem = refusalOf(reason)
    if (problem.code === 'internal') report(reason, `${method} ${args[0]}`)
    wire.send({ do: 'refuse', id, problem, ms: usedBy(args[0]) })
  }
}

async function handle(id: number, call: TenantCall): Promise<void> {
  const { slug, request } = call
  const inflow = isFlowing(request.body) ? flows.drink(id) : null
  const body = inflow ? (inflow as AsyncIterable<Uint8Array>) : request.body
  const begun = performance.now()
  const given = tenants.handle({ ...call, request: { ...request, body, ...clientOf(id, call) } })
  use(slug, performance.now() - begun)
  const answered = given instanceof Promise ? await pending(id, slug, given) : given
  clients.delete(id)
  give(id, slug, answered)
  // The rest of a body is not needed once the answer is complete.
  if (inflow && !isStream(answered.body)) await inflow.return()
}

/** The disconnect signal of a call, for calls that can then be stopped. */
function clientOf(id: number, { request, target }: TenantCall): { signal?: AbortSignal } {
  if (!isLasting(request, target.segments) && !runsCode(request, target.segments)) return {}
  const client = new AbortController()
  clients.set(id, client)
  return { signal: client.signal }
}

/** Waits for an answer. A call that is not answered soon waits for something other than the thread, and says so. */
async function pending<T>(id: number, slug: string, given: Promise<T>): Promise<T> {
  fresh.set(id, slug)
  if (!isSweeping) sweepLater(new Map())
  try {
    return await given
  } finally {
    fresh.delete(id)
  }
}

/** Reports the calls that already waited at the last sweep. */
function sweep(before: ReadonlyMap<number, string>): void {
  const waiting = [...fresh].filter(([id]) => before.has(id))
  for (const [id, slug] of waiting) {
    fresh.delete(id)
    wire.send({ do: 'waits', id, ms: usedBy(slug) })
  }
  isSweeping = false
  if (fresh.size > 0) sweepLater(new Map(fresh))
}

function sweepLater(seen: ReadonlyMap<number, string>): void {
  isSweeping = true
  setTimeout(() => sweep(seen), SWEEP_MS).unref()
}

function use(slug: string, ms: number): void {
  used.set(slug, (used.get(slug) ?? 0) + ms)
}

function usedBy(slug: unknown): number {
  const ms = used.get(String(slug)) ?? 0
  used.delete(String(slug))
  return ms
}

function give(id: number, slug: string, given: HttpResponse): void {
  const { body } = given
  const ms = usedBy(slug)
  if (isStream(body)) {
    wire.send({ do: 'return', id, value: { ...given, body: FLOWING }, ms })
    flows.pour(id, body)
  } else if (body instanceof Uint8Array) {
    const bytes = ownBytes(body)
    wire.send({ do: 'return', id, value: { ...given, body: bytes }, ms }, bytes.buffer as ArrayBuffer)
  } else wire.send({ do: 'return', id, value: given, ms })
}
