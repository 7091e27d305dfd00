import { Problem } from '@tildebase/nouns'
import { type Sender, unauthorized } from '../app.ts'
import { withBody } from '../fetch-adapter.ts'
import type { HttpRequest, HttpResponse } from '../http.ts'
import { parseForkRequest, parseLogRequest } from '../log-request.ts'
import { slugOf } from '../target.ts'
import type { DurableTenants } from './durable-tenants.ts'
import type { Task } from './object-command.ts'

/** `/operator/tenants…` on this host: a tenant is moved as the lines of its log. */
export function operator(
  ask: HttpRequest,
  segments: readonly string[],
  sender: Sender,
  tenants: DurableTenants,
  requestId: string,
): Promise<HttpResponse> {
  if (sender.kind === 'nobody') throw unauthorized()
  if (sender.kind !== 'operator') throw new Problem('forbidden', 'Only the key of the operator opens this.')
  const [, area, name, action = '', ...rest] = segments
  if (area !== 'tenants' || rest.length > 0)
    throw new Problem('unknown_path', 'There is /operator/tenants/:tenant, and what lies below it.')
  if (name === undefined) throw notHere('Durable Objects cannot be listed from within: keep a list of your tenants.')
  if (action === 'fork' && ask.method === 'POST') return fork(slugOf(name), ask, tenants, requestId)
  return tenants.keep(slugOf(name), taskOf(ask, action), ask, requestId)
}

/** Reads the log of one object, up to a time when one is given, into another that is new. */
async function fork(slug: string, ask: HttpRequest, tenants: DurableTenants, requestId: string): Promise<HttpResponse> {
  const { body } = await withBody(ask, LONGEST_BODY)
  const { to, asOf } = parseForkRequest(body as Uint8Array | null)
  const question = { after: 0, waitMs: 0, beside: 'none', asOf } as const
  const log = await tenants.keep(slug, { do: 'log', question }, { ...ask, headers: {}, body: null }, requestId)
  if (log.status !== 200) return log
  return tenants.keep(to, { do: 'replay' }, { ...ask, headers: {}, body: log.body as HttpRequest['body'] }, requestId)
}

function taskOf(ask: HttpRequest, action: string): Task {
  switch (`${ask.method === 'HEAD' ? 'GET' : ask.method} ${action}`) {
    case 'GET ':
      return { do: 'info' }
    case 'DELETE ':
      return { do: 'delete' }
    case 'GET verify':
      return { do: 'verify' }
    case 'GET log':
      return { do: 'log', question: parseLogRequest(ask.query) }
    case 'PUT log':
      return { do: 'replay' }
    default:
      return refuse(action)
  }
}

const METHODS: { readonly [action: string]: string } = {
  '': 'GET, DELETE',
  verify: 'GET',
  log: 'GET, PUT',
  fork: 'POST',
}
const LONGEST_BODY = 10_000

function refuse(action: string): never {
  if (['backup', 'restore'].includes(action))
    throw notHere(`There is no ${action} of a file where no files are: use …/log, or tilde ${action} with a folder.`)
  const allow = METHODS[action]
  if (allow !== undefined) throw new Problem('method_not_allowed', `Here one may ${allow}.`, { allow })
  throw new Problem('unknown_path', 'A tenant has verify, fork and log.')
}

function notHere(message: string): Problem {
  return new Problem('not_supported', message)
}
