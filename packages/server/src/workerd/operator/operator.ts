import { type AsOf, Problem } from '@tildebase/nouns'
import type { HttpRequest, HttpResponse } from '../../doors/http.ts'
import { json, render } from '../../doors/reply.ts'
import type { LogRequest } from '../../doors/watch/log-request.ts'
import type { OperatorHost } from '../../host/operator.ts'
import type { Directory } from '../directory.ts'
import type { DurableTenants } from '../durable-tenants.ts'
import { MORE, type ObjectTask } from '../object/object-command.ts'

const NO_TASKS = 'This host shows only the progress of a restore: GET /operator/tenants/:tenant.'
const NO_FILES = 'This host has no files that could be repaired. Delete the tenant, and restore it from a backup.'
const NO_DIRECTORY = 'This host has no directory of tenants: bind DIRECTORY.'

/** What this host does for the operator: most of it is a task of the tenant's object. */
export function workerOperator(tenants: DurableTenants, directory: Directory | null): OperatorHost {
  return {
    run(slug, task, request, requestId) {
      if (task.do === 'fork') return forkTenant(slug, task.to, task.asOf, request, requestId, tenants)
      if (task.do === 'restore' && task.from === null) throw noBackup()
      return tenants.task(slug, task as ObjectTask, request, requestId)
    },
    ...(directory && {
      list: (request: HttpRequest) => directory.list(request),
      journal: (request: HttpRequest) => directory.journal(request),
    }),
    record: async (action, slug, facts) => directory?.record(action, slug, facts),
    impossible: {
      ...(directory === null && { list: NO_DIRECTORY, journal: NO_DIRECTORY }),
      rotateKey: 'Set a new TILDE_SIGNING_KEY on this host, and add the old public key to TILDE_SIGNING_KEYS_RETIRED.',
      tasks: NO_TASKS,
      allTasks: NO_TASKS,
      release: 'Each tenant of this host has its own thread, so there is no quarantine.',
      setAside: NO_FILES,
      salvage: NO_FILES,
      backup: 'This host has no files to back up: use …/log, or tilde backup with a folder.',
    },
  }
}

function noBackup(): Problem {
  const message =
    'There are no files here. Name the tenant whose backup in the bucket is restored: ?from=acme. Or use …/log.'
  return new Problem('invalid_parameter', message, { field: 'from' })
}

/** Reads the log of one object, up to a moment if one is given, into another that is new: slice by slice. */
async function forkTenant(
  slug: string,
  to: string,
  asOf: AsOf | null,
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
    if (taken.status !== 201 && taken.status !== 202) return taken
    const { events, missing = [] } = JSON.parse(await new Response(taken.body as BodyInit).text())
    if (taken.status === 201) {
      await copyContents(slug, to, missing, inner, requestId, tenants)
      return render(json(201, { tenant: to, events }))
    }
    after = events
  }
}

/** Gives a fork the bytes of its origin, as far as that has them. */
async function copyContents(
  from: string,
  to: string,
  hashes: readonly string[],
  request: HttpRequest,
  requestId: string,
  tenants: DurableTenants,
): Promise<void> {
  for (const hash of hashes) {
    const found = await tenants.task(from, { do: 'readContent', hash }, { ...request, method: 'GET' }, requestId)
    if (found.status !== 200) continue
    const body = found.body as HttpRequest['body']
    await tenants.task(to, { do: 'writeContent', hash }, { ...request, method: 'PUT', body }, requestId)
  }
}
