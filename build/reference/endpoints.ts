import { clusterRoutes } from '../../packages/server/src/cluster/operator/routes.ts'
import { needsText } from '../../packages/server/src/doors/openapi/operation.ts'
import type { OperatorEndpoint } from '../../packages/server/src/doors/openapi/operator-document.ts'
import { routes } from '../../packages/server/src/doors/route-table.ts'
import { operatorRoutes } from '../../packages/server/src/host/operator-routes.ts'
import { code, table } from './markdown.ts'

type Endpoint = Omit<OperatorEndpoint, 'tag'>

/** Every route below a tenant with the rights that it needs. */
export function endpointTable(): string {
  const rows = sorted(routes.all).map((route) => [nameOf(route), route.summary, shown(needsText(route))])
  return table(['Endpoint', 'What it does', 'Needs'], rows)
}

/** Every endpoint of the operator. */
export function operatorEndpointTable(): string {
  const own = clusterRoutes.filter(({ path }) => path.startsWith('/operator/cluster'))
  const rows = sorted([...operatorRoutes, ...own]).map((route) => [nameOf(route), route.summary])
  return table(['Endpoint', 'What it does'], rows)
}

function sorted<E extends Endpoint>(all: readonly E[]): E[] {
  return all.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
}

function nameOf({ method, path }: Endpoint): string {
  return code(`${method} ${path || '/'}`)
}

/** The scopes and actions of a sentence as code. */
function shown(needs: string): string {
  return needs.replace(/\b(?:read|write|admin)(?::\w+)?\b/g, code)
}
