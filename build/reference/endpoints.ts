import type { Need } from '../../packages/server/src/doors/call.ts'
import { routes } from '../../packages/server/src/doors/route-table.ts'
import { code, table } from './markdown.ts'

/** Every route below a tenant with the right that it needs. */
export function endpointTable(): string {
  const rows = routes.all
    .map(({ method, path, needs, summary }) => [code(`${method} ${path || '/'}`), summary, needOf(needs)] as const)
    .toSorted(([a], [b]) => (pathOf(a) < pathOf(b) ? -1 : pathOf(a) > pathOf(b) ? 1 : 0))
  return table(['Endpoint', 'What it does', 'Needs'], rows)
}

function pathOf(endpoint: string): string {
  return endpoint.slice(endpoint.indexOf(' '))
}

function needOf(needs: Need): string {
  if (needs === 'key') return 'any valid key'
  if (needs === 'public') return 'no key'
  if (needs.on === 'type') return `${code(needs.action)} on the type`
  return needs.on === 'area' ? code(`${needs.action}:${needs.area}`) : `${code(needs.action)} on what it touches`
}
