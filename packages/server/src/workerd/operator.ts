import { withBody } from '../fetch-adapter.ts'
import type { OperatorActions } from '../host/operator.ts'
import type { HttpRequest, HttpResponse } from '../http.ts'
import { parseForkRequest, parseLogRequest } from '../log-request.ts'
import type { DurableTenants } from './durable-tenants.ts'
import type { ObjectTask } from './object-command.ts'

const LONGEST_BODY = 10_000

/** What the operator can do with tenants as a whole on this host: a tenant is moved as the lines of its log. */
export function operatorActions(tenants: DurableTenants): OperatorActions {
  const run = (task: ObjectTask) => (slug: string, request: HttpRequest, requestId: string) =>
    tenants.runTask(slug, task, request, requestId)
  return {
    list: 'Durable Objects cannot be listed from within: keep a list of your tenants.',
    create: 'A tenant of this host is created by its first write.',
    journal: 'This host keeps no log of the operator: see the log of the Worker.',
    rotateKey: 'Set a new TILDE_SIGNING_KEY on this host, and add the old public key to TILDE_SIGNING_KEYS_RETIRED.',
    info: run({ do: 'info' }),
    remove: run({ do: 'delete' }),
    verify: run({ do: 'verify' }),
    fork: (slug, request, requestId) => fork(slug, request, tenants, requestId),
    release: 'Each tenant of this host has a thread of its own: none is put into quarantine.',
    backup: 'There is no backup of a file where no files are: use …/log, or tilde backup with a folder.',
    restore: 'There is no restore of a file where no files are: use …/log, or tilde restore with a folder.',
    readLog: (slug, request, requestId) =>
      tenants.runTask(slug, { do: 'log', question: parseLogRequest(request.query) }, request, requestId),
    replayLog: run({ do: 'replay' }),
  }
}

/** Reads the log of one object, up to a time when one is given, into another that is new. */
async function fork(
  slug: string,
  request: HttpRequest,
  tenants: DurableTenants,
  requestId: string,
): Promise<HttpResponse> {
  const { body } = await withBody(request, LONGEST_BODY)
  const { to, asOf } = parseForkRequest(body as Uint8Array | null)
  const question = { after: 0, waitMs: 0, beside: 'none', asOf, fork: true } as const
  const inner = { ...request, headers: {}, body: null }
  const log = await tenants.runTask(slug, { do: 'log', question }, inner, requestId)
  if (log.status !== 200) return log
  return tenants.runTask(to, { do: 'replay' }, { ...inner, body: log.body as HttpRequest['body'] }, requestId)
}
