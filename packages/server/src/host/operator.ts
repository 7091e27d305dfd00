import { Problem } from '@tildebase/nouns'
import { unauthorized } from '../doors/app.ts'
import type { HttpRequest, HttpResponse, MaybePromise } from '../doors/http.ts'
import { slugOf } from '../doors/target.ts'
import type { Sender } from '../doors/tenant-call.ts'

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

/** What each path below `/operator/tenants/:tenant` means, by method. */
const PATHS: { readonly [action: string]: { readonly [method: string]: keyof OperatorActions } } = {
  '': { GET: 'info', DELETE: 'remove' },
  verify: { GET: 'verify' },
  tasks: { GET: 'tasks' },
  fork: { POST: 'fork' },
  release: { POST: 'release' },
  backup: { GET: 'backup' },
  restore: { PUT: 'restore' },
  log: { GET: 'readLog', PUT: 'replayLog' },
}

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
  const [, area, name, action = '', ...rest] = segments
  const method = request.method === 'HEAD' ? 'GET' : request.method
  if (area === 'log' && name === undefined) return possible(only(method, { GET: actions.journal }))(request)
  if (area === 'signing-key' && name === undefined) return possible(only(method, { POST: actions.rotateKey }))(request)
  if (area !== 'tenants' || rest.length > 0) {
    throw new Problem(
      'unknown_path',
      'The operator paths are /operator/tenants/…, /operator/signing-key and /operator/log; in a cluster also /operator/cluster.',
    )
  }
  if (name === undefined) return possible(only(method, { GET: actions.list, POST: actions.create }))(request)
  const methods = Object.hasOwn(PATHS, action) ? PATHS[action]! : null
  if (methods === null)
    throw new Problem('unknown_path', 'A tenant has verify, fork, backup, restore, log, tasks and release.')
  return possible(actions[only(method, methods)] as Action | string)(slugOf(name), request, requestId)
}

function only<T>(method: string, methods: { readonly [method: string]: T }): T {
  const found = Object.hasOwn(methods, method) ? methods[method] : undefined
  if (found !== undefined) return found
  const allow = Object.keys(methods).join(', ')
  throw new Problem('method_not_allowed', `${method} is not supported here; use ${allow}.`, { allow })
}

function possible<T>(action: T | string): T {
  if (typeof action !== 'string') return action
  throw new Problem('not_supported', action)
}
