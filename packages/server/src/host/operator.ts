import { Problem } from '@tildebase/nouns'
import { unauthorized } from '../doors/app.ts'
import { findRoute } from '../doors/dispatch.ts'
import type { HttpRequest, HttpResponse, MaybePromise } from '../doors/http.ts'
import { operatorDocument } from '../doors/openapi/operator-document.ts'
import { json, render } from '../doors/reply.ts'
import { VERSION } from '../doors/rest/openapi.ts'
import { Routes } from '../doors/routes.ts'
import { slugOf } from '../doors/target.ts'
import type { Sender } from '../doors/tenant-call.ts'
import { operatorRoutes } from './operator-routes.ts'

type Action = (slug: string, request: HttpRequest, requestId: string) => MaybePromise<HttpResponse>

/** What a host can do for the operator with tenants as a whole. What it cannot do says why, as a string. */
export interface OperatorActions {
  readonly list: ((request: HttpRequest) => MaybePromise<HttpResponse>) | string
  /** Creates a tenant without events. */
  readonly create: ((request: HttpRequest) => MaybePromise<HttpResponse>) | string
  /** What the operator did, newest first. */
  readonly journal: ((request: HttpRequest) => MaybePromise<HttpResponse>) | string
  /** Signs checkpoints with a new key from now on. */
  readonly rotateKey: ((request: HttpRequest) => MaybePromise<HttpResponse>) | string
  readonly info: Action
  /** What is in progress for the operator, and how far it is. */
  readonly tasks: Action | string
  readonly remove: Action
  readonly verify: Action
  readonly fork: Action
  /** Ends a quarantine. */
  readonly release: Action | string
  readonly backup: Action | string
  readonly restore: Action | string
  readonly readLog: Action
  readonly replayLog: Action
}

const table = new Routes(operatorRoutes)

/** Answers `/operator/…`: what only the operator's key may do. */
export function operatorPage(
  request: HttpRequest,
  segments: readonly string[],
  sender: Sender,
  requestId: string,
  actions: OperatorActions,
): MaybePromise<HttpResponse> {
  if (sender.kind === 'anonymous') throw unauthorized()
  if (sender.kind !== 'operator') throw new Problem('forbidden', 'This needs the operator key.')
  const { route, params } = findRoute(table, request.method, segments, '/operator/openapi.json')
  if (route.action === 'describe') return render(json(200, operatorDocument(operatorRoutes, VERSION)))
  const action = possible(actions[route.action]) as Action & ((request: HttpRequest) => MaybePromise<HttpResponse>)
  return params.tenant === undefined ? action(request) : action(slugOf(params.tenant), request, requestId)
}

function possible<T>(action: T | string): T {
  if (typeof action !== 'string') return action
  throw new Problem('not_supported', action)
}
