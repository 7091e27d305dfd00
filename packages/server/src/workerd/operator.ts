import { Problem } from '@tildebase/nouns'
import { type Sender, unauthorized } from '../app.ts'
import type { Answer, Ask } from '../ask.ts'
import { slugOf } from '../locate.ts'
import { logQuestion } from '../portable.ts'
import type { DurableTenants } from './durable-tenants.ts'
import type { Task } from './errand.ts'

/** `/operator/tenants…` on this host: a tenant is moved as the lines of its log. */
export function operator(
  ask: Ask,
  segments: readonly string[],
  sender: Sender,
  tenants: DurableTenants,
): Promise<Answer> {
  if (sender.kind === 'nobody') throw unauthorized()
  if (sender.kind !== 'operator') throw new Problem('forbidden', 'Only the key of the operator opens this.')
  const [, area, name, action = '', ...rest] = segments
  if (area !== 'tenants' || rest.length > 0)
    throw new Problem('unknown_path', 'There is /operator/tenants/:tenant, and what lies below it.')
  if (name === undefined) throw notHere('Durable Objects cannot be listed from within: keep a list of your tenants.')
  return tenants.keep(slugOf(name), taskOf(ask, action), ask, ask.headers['x-request-id'] ?? 'operator')
}

function taskOf(ask: Ask, action: string): Task {
  switch (`${ask.method === 'HEAD' ? 'GET' : ask.method} ${action}`) {
    case 'GET ':
      return { do: 'info' }
    case 'DELETE ':
      return { do: 'delete' }
    case 'GET verify':
      return { do: 'verify' }
    case 'GET log':
      return { do: 'log', question: logQuestion(ask.query) }
    case 'PUT log':
      return { do: 'replay' }
    default:
      return refuse(action)
  }
}

const METHODS: { readonly [action: string]: string } = { '': 'GET, DELETE', verify: 'GET', log: 'GET, PUT' }

function refuse(action: string): never {
  if (['backup', 'restore', 'fork'].includes(action))
    throw notHere(`There is no ${action} of a file where no files are: read …/log and restore it under another name.`)
  const allow = METHODS[action]
  if (allow !== undefined) throw new Problem('method_not_allowed', `Here one may ${allow}.`, { allow })
  throw new Problem('unknown_path', 'A tenant has verify and log.')
}

function notHere(message: string): Problem {
  return new Problem('not_supported', message)
}
