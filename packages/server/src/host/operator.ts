import { type AsOf, Problem } from '@tildebase/nouns'
import { BoundedMap } from '@tildebase/nouns/bounded-map'
import { unauthorized } from '../doors/app.ts'
import { findRoute } from '../doors/dispatch.ts'
import type { HttpRequest, HttpResponse, MaybePromise } from '../doors/http.ts'
import { operatorDocument } from '../doors/openapi/operator-document.ts'
import { json, render } from '../doors/reply.ts'
import { VERSION } from '../doors/rest/openapi.ts'
import { Routes } from '../doors/route.ts'
import { slugOf } from '../doors/target.ts'
import type { Sender } from '../doors/tenant-call.ts'
import {
  type LogRequest,
  parseCreateRequest,
  parseForkRequest,
  parseLogRequest,
  parseRestoreRequest,
  parseSliceRequest,
  type SliceRequest,
} from '../doors/watch/log-request.ts'
import { withBody } from './fetch-adapter.ts'
import { type OperatorAction, operatorRoutes } from './operator-routes.ts'

/** What the operator asks of one tenant as a whole, as its request says. */
export type OperatorTask =
  | { readonly do: 'info' | 'verify' | 'tasks' | 'create' | 'delete' | 'release' | 'backup' | 'setAside' }
  /** What can be read of a damaged file after an event. */
  | { readonly do: 'salvage'; readonly after: number }
  /** Makes another tenant of this one, as it was at a moment. */
  | { readonly do: 'fork'; readonly to: string; readonly asOf: AsOf | null }
  /** Makes a new tenant of a backup: the body of the request, or one in a bucket. */
  | { readonly do: 'restore'; readonly from: string | null; readonly asOf: number | null }
  | { readonly do: 'log'; readonly question: LogRequest }
  /** The bytes of a content: in the answer, or in the body of the request. */
  | { readonly do: 'readContent' | 'writeContent'; readonly hash: string }
  /** Takes in a log, or a slice of one: the body of the request. */
  | ({ readonly do: 'replay' } & SliceRequest)

/** What a host does for the operator. Requests are read, recorded and answered the same way on every host. */
export interface OperatorHost {
  run(slug: string, task: OperatorTask, request: HttpRequest, requestId: string): MaybePromise<HttpResponse>
  readonly list?: (request: HttpRequest) => MaybePromise<HttpResponse>
  /** What the operator did, newest first. */
  readonly journal?: (request: HttpRequest) => MaybePromise<HttpResponse>
  /** The tasks of all tenants. */
  readonly allTasks?: () => Promise<readonly object[]>
  /** Writes down what the operator did. */
  record(action: string, slug: string, facts: object): MaybePromise<void>
  /** Signs checkpoints with a new key from now on. */
  readonly rotateKey?: () => MaybePromise<object>
  /** Why this host cannot do some of it, and what the operator can do instead. */
  readonly impossible: { readonly [action in OperatorAction]?: string }
}

/** The longest body of a request that names a tenant. */
const LONGEST_BODY = 10_000

const table = new Routes(operatorRoutes)

/** Answers `/operator/…`: what only the operator's key may do. Each action is written into the operator's log. */
export function operatorPages(host: OperatorHost) {
  const reads = new LogReads()
  return async (
    request: HttpRequest,
    segments: readonly string[],
    sender: Sender,
    requestId: string,
  ): Promise<HttpResponse> => {
    if (sender.kind === 'anonymous') throw unauthorized()
    if (sender.kind !== 'operator') throw new Problem('forbidden', 'This needs the operator key.')
    if (segments[1] === 'cluster')
      throw new Problem('not_supported', 'This server is not a node of a cluster. tilde serve --cluster starts one.')
    const { route, params } = findRoute(table, request.method, segments, '/operator/openapi.json')
    const { action } = route
    const reason = host.impossible[action]
    if (reason !== undefined) throw new Problem('not_supported', reason)
    switch (action) {
      case 'describe':
        return render(json(200, operatorDocument(operatorRoutes, VERSION)))
      case 'list':
        return host.list!(request)
      case 'journal':
        return host.journal!(request)
      case 'allTasks':
        return render(json(200, { results: await host.allTasks!() }))
      case 'rotateKey': {
        const key = await host.rotateKey!()
        await host.record('rotate', '', {})
        return render(json(201, key))
      }
      case 'create': {
        const slug = parseCreateRequest(await bodyOf(request))
        return recorded(host, slug, { do: 'create' }, { ...request, body: null }, requestId)
      }
    }
    const slug = slugOf(params.tenant!)
    const task = await taskOf(action, request)
    if (task.do !== 'log') return recorded(host, slug, task, request, requestId)
    const record = (facts: object) => host.record('backup', slug, facts)
    return reads.during(slug, task.question.after, async () => host.run(slug, task, request, requestId), record)
  }
}

type TenantAction = Exclude<OperatorAction, 'describe' | 'list' | 'journal' | 'allTasks' | 'rotateKey' | 'create'>

async function taskOf(action: TenantAction, request: HttpRequest): Promise<OperatorTask> {
  switch (action) {
    case 'fork':
      return { do: action, ...parseForkRequest(await bodyOf(request), Date.now()) }
    case 'restore':
      return { do: action, ...parseRestoreRequest(request.query) }
    case 'log':
      return { do: action, question: parseLogRequest(request.query) }
    case 'salvage':
      return { do: action, after: parseLogRequest(request.query).after }
    case 'replay':
      return { do: action, ...parseSliceRequest(request.query) }
    case 'readContent':
    case 'writeContent':
      return { do: action, hash: decodeURIComponent(request.path.slice(request.path.lastIndexOf('/') + 1)) }
    default:
      return { do: action }
  }
}

async function bodyOf(request: HttpRequest): Promise<Uint8Array | null> {
  return (await withBody(request, LONGEST_BODY)).body as Uint8Array | null
}

/** Runs a task, and records it once it is done. A slice of a log that others follow is not its own action. */
async function recorded(
  host: OperatorHost,
  slug: string,
  task: OperatorTask,
  request: HttpRequest,
  requestId: string,
): Promise<HttpResponse> {
  const response = await host.run(slug, task, request, requestId)
  const isDone = response.status < 300 && response.status !== 202
  if (isDone && !READING.has(task.do)) await host.record(NAMES[task.do] ?? task.do, slug, factsOf(task))
  return response
}

/** Tasks that the operator's log does not hold. */
const READING: ReadonlySet<OperatorTask['do']> = new Set([
  'info',
  'verify',
  'tasks',
  'readContent',
  'writeContent',
  'salvage',
])
const NAMES: { readonly [task in OperatorTask['do']]?: string } = { replay: 'restore' }

function factsOf(task: OperatorTask): object {
  if (task.do === 'fork') return { to: task.to, asOf: null, ...(task.asOf && asOfFacts(task.asOf)) }
  if (task.do === 'replay') return { form: 'log' }
  return task.do === 'restore' && task.from !== null ? { from: task.from } : {}
}

/** A time as it was recorded before there were others; or the seq. */
function asOfFacts(asOf: AsOf): object {
  return 'at' in asOf ? { asOf: asOf.at } : asOf
}

/** The answer to a log, or a slice of one, that a tenant has taken in. */
export function replayedReply(slug: string, { more, isNew, events, missing, verified }: Replay): HttpResponse {
  if (more) return render(json(202, { tenant: slug, events, ...(isNew && { restoring: true }) }))
  return render(json(201, { tenant: slug, events, missing, verified }))
}

/** What came of a log, or of a slice of one. */
interface Replay {
  /** Whether other slices follow. */
  readonly more: boolean
  readonly isNew: boolean
  readonly events: number
  /** The contents whose bytes are still to come. */
  readonly missing: readonly string[]
  /** Whether the file was verified, too. Each event was tested in any case. */
  readonly verified: boolean
}

/** How far a restore has come: of how many events, if the sender said so. */
export function restoringReply(slug: string, events: number, of: number | null, failed?: string): HttpResponse {
  const facts = { ...(of !== null && { of }), ...(failed && { failed }) }
  return render(json(200, { tenant: slug, restoring: true, events, ...facts }))
}

/** The event after which a log continues, as its first line says. What is not a log is refused later. */
export function afterOf(head: string): unknown {
  try {
    return JSON.parse(head.slice(0, head.indexOf('\n'))).after
  } catch {
    return undefined
  }
}

/** What is remembered of the last read of a tenant's log. */
interface Read {
  readonly after: number
  readonly isFailed: boolean
}

const MOST_TENANTS = 10_000

/**
 * Which reads of logs the operator's log records. A backup that follows a tenant reads its log every second: of such a
 * series the first read is recorded, and when it begins to fail.
 */
class LogReads {
  readonly #last = new BoundedMap<string, Read>(MOST_TENANTS)

  /** Runs a read, and records it unless it continues the one before. */
  async during(
    slug: string,
    after: number,
    work: () => Promise<HttpResponse>,
    record: (facts: object) => unknown,
  ): Promise<HttpResponse> {
    const done = async (isFailed: boolean) => {
      const isNew = this.#isNew(slug, { after, isFailed })
      if (isNew) await record({ form: 'log', ...(isFailed && { failed: true }) })
    }
    try {
      const response = await work()
      await done(response.status >= 400)
      return response
    } catch (reason) {
      await done(true)
      throw reason
    }
  }

  #isNew(slug: string, read: Read): boolean {
    const last = this.#last.get(slug)
    this.#last.set(slug, read)
    // A read from an earlier event on is not part of the series: it returns what others have read before.
    const continues = last !== undefined && read.after > 0 && read.after >= last.after
    return read.isFailed ? !last?.isFailed : !continues || last.isFailed
  }
}
