import { Problem, parseInstant } from '@tildebase/nouns'
import { parseQuery, textParam } from '../../doors/call.ts'
import type { HttpRequest, HttpResponse } from '../../doors/http.ts'
import { slugOf } from '../../doors/target.ts'
import {
  type LogRequest,
  parseCreateRequest,
  parseForkRequest,
  parseLogRequest,
  parseSliceRequest,
} from '../../doors/watch/log-request.ts'
import { withBody } from '../../host/fetch-adapter.ts'
import { LogReads } from '../../host/log-reads.ts'
import type { OperatorActions } from '../../host/operator.ts'
import type { Directory } from '../directory.ts'
import type { DurableTenants } from '../durable-tenants.ts'
import { MORE, type ObjectTask } from '../object/object-command.ts'

const LONGEST_BODY = 10_000
const NO_DIRECTORY = 'This host has no directory of tenants: bind DIRECTORY.'

/** What the operator can do with tenants as a whole on this host. Each action is written into the operator's log. */
export function operatorActions(tenants: DurableTenants, directory: Directory | null): OperatorActions {
  const run = (task: ObjectTask) => (slug: string, request: HttpRequest, requestId: string) =>
    tenants.task(slug, task, request, requestId)
  const recorded = async (action: string, slug: string, work: () => Promise<HttpResponse>, facts: object = {}) => {
    const response = await work()
    // A slice of a log that others follow is not its own action.
    if (response.status < 300 && response.status !== 202) await directory?.record(action, slug, facts)
    return response
  }
  // Each isolate has its own: it records the first read that it sees.
  const reads = new LogReads()
  return {
    list: directory ? (request) => directory.list(request) : NO_DIRECTORY,
    journal: directory ? (request) => directory.journal(request) : NO_DIRECTORY,
    create: async (request) => {
      const slug = parseCreateRequest((await withBody(request, LONGEST_BODY)).body as Uint8Array | null)
      const inner = { ...request, body: null }
      return recorded('create', slug, () => tenants.task(slug, { do: 'create' }, inner, 'create'))
    },
    rotateKey: 'Set a new TILDE_SIGNING_KEY on this host, and add the old public key to TILDE_SIGNING_KEYS_RETIRED.',
    info: run({ do: 'info' }),
    tasks: 'This host shows only the progress of a restore: GET /operator/tenants/:tenant.',
    verify: run({ do: 'verify' }),
    remove: (slug, request, requestId) =>
      recorded('delete', slug, () => tenants.task(slug, { do: 'delete' }, request, requestId)),
    fork: async (slug, request, requestId) => {
      const { to, asOf } = parseForkRequest((await withBody(request, LONGEST_BODY)).body as Uint8Array | null)
      return recorded('fork', slug, () => forkTenant(slug, to, asOf, request, requestId, tenants), { to, asOf })
    },
    release: 'Each tenant of this host has its own thread, so there is no quarantine.',
    backup: 'This host has no files to back up: use …/log, or tilde backup with a folder.',
    restore: (slug, request, requestId) => {
      const task = parseRestoreRequest(request.query)
      return recorded('restore', slug, () => tenants.task(slug, task, request, requestId), { from: task.from })
    },
    readLog: (slug, request, requestId) => {
      const task = { do: 'log', question: parseLogRequest(request.query) } as const
      const record = (facts: object) => directory?.record('backup', slug, facts)
      const read = () => tenants.task(slug, task, request, requestId)
      return reads.during(slug, task.question.after, read, record)
    },
    replayLog: (slug, request, requestId) => {
      const task = { do: 'replay', ...parseSliceRequest(request.query) } as const
      return recorded('restore', slug, () => tenants.task(slug, task, request, requestId), { form: 'log' })
    },
  }
}

/** The question of `?from=acme&asOf=TIME`: which backup in the bucket a tenant is made of. */
function parseRestoreRequest(text: string): Extract<ObjectTask, { do: 'restore' }> {
  const query = parseQuery(text)
  const from = textParam(query, 'from')
  if (from === undefined) {
    const message =
      'There are no files here. Name the tenant whose backup in the bucket is restored: ?from=acme. Or use …/log.'
    throw new Problem('invalid_parameter', message, { field: 'from' })
  }
  const asOf = textParam(query, 'asOf')
  const at = asOf === undefined ? null : parseInstant(asOf)
  if (asOf !== undefined && at === null) {
    throw new Problem('invalid_as_of', 'asOf is an ISO 8601 time, such as 2026-01-31T12:00:00Z.', { field: 'asOf' })
  }
  return { do: 'restore', from: slugOf(from), asOf: at }
}

/** Reads the log of one object, up to a time when one is given, into another that is new: slice by slice. */
async function forkTenant(
  slug: string,
  to: string,
  asOf: number | null,
  request: HttpRequest,
  requestId: string,
  tenants: DurableTenants,
): Promise<HttpResponse> {
  const inner = { ...request, query: '', headers: {}, body: null }
  for (let after = 0; ; ) {
    const question: LogRequest = { after, waitMs: 0, beside: 'none', asOf, fork: true }
    const slice = await tenants.task(slug, { do: 'slice', question }, { ...inner, method: 'GET' }, requestId)
    if (slice.status !== 200) return slice
    const more = slice.headers[MORE] !== undefined
    const body = slice.body as HttpRequest['body']
    const taken = await tenants.task(to, { do: 'replay', more, of: null }, { ...inner, body }, requestId)
    if (taken.status !== 202) return taken
    after = JSON.parse(await new Response(taken.body as BodyInit).text()).events
  }
}
