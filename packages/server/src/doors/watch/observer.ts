import type { HttpRequest, HttpResponse } from '../http.ts'
import type { Routes } from '../route.ts'
import type { RequestTarget } from '../target.ts'
import type { Trace } from './trace.ts'

/** A request that was answered, as logs, metrics and traces tell of it. It holds no secret and no query. */
export interface ServedRequest {
  readonly method: string
  /** The pattern of its path, `/~{tenant}/:type/:id`: few enough to count by. */
  readonly route: string
  readonly path: string
  readonly status: number
  /** When it came, in milliseconds since 1970, and how long it took until the answer was there. */
  readonly at: number
  readonly ms: number
  readonly requestId: string
  readonly tenant: string | null
  /** The first 8 characters of the key, `operator`, or null. */
  readonly key: string | null
  readonly trace: Trace | null
}

/** An observer of every answered request. */
export interface RequestObserver {
  /** The routes by which requests are counted. */
  readonly routes: Routes
  /** Whether a request that names no trace begins one. */
  readonly traces: boolean
  observe(served: ServedRequest): void
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const OUTSIDE = new Set(['', 'healthz', 'readyz', 'metrics', 'docs', 'llms.txt', 'operator', 'console'])

/** The data about an answered request. */
export function servedRequestOf(
  ask: HttpRequest,
  place: RequestTarget | null,
  answer: HttpResponse,
  routes: Routes,
  rest: Pick<ServedRequest, 'at' | 'ms' | 'requestId' | 'key' | 'trace'>,
): ServedRequest {
  const method = METHODS.has(ask.method) ? ask.method : 'other'
  const { at, ms, requestId, key, trace } = rest
  const route = place?.tenant != null && answer.route ? inTenant(answer.route) : routeOf(ask.method, place, routes)
  const tenant = place?.tenant ?? null
  return { method, route, path: ask.path, status: answer.status, tenant, at, ms, requestId, key, trace }
}

function routeOf(method: string, place: RequestTarget | null, routes: Routes): string {
  if (place === null) return 'none'
  const { tenant, segments } = place
  const [first = ''] = segments
  if (tenant === null && OUTSIDE.has(first)) return `/${first}`
  const path = routes.pathOf(method, segments)
  if (path === null) return 'none'
  return tenant === null ? path : inTenant(path)
}

const labels = new Map<string, string>()

/** The pattern of a path below a tenant. There are as many as routes, so each is made once. */
function inTenant(path: string): string {
  const known = labels.get(path)
  if (known !== undefined) return known
  const label = `/~{tenant}${path}`
  labels.set(path, label)
  return label
}
