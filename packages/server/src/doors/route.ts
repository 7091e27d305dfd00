import type { ReadRoute, Route, StreamRoute, WriteRoute } from './call.ts'
import type { Body, Of } from './describe/description.ts'

type Endpoint = `${Route['method']} ${string}`

/** What is given for a route. A method that sends a body says which, or null if it takes none. */
type Given<R extends Route, E> = Omit<R, 'method' | 'path' | 'mode' | 'body'> &
  (E extends `GET ${string}` | `DELETE ${string}` ? { readonly body?: never } : { readonly body: Of<Body | null> })

/** A route that reads: `readRoute('GET /schema', …)`. */
export function readRoute<E extends Endpoint>(endpoint: E, given: Given<ReadRoute, E>): ReadRoute {
  return { ...given, ...partsOf(endpoint), mode: 'read' }
}

/** A route that runs inside a commit. */
export function writeRoute<E extends Endpoint>(endpoint: E, given: Given<WriteRoute, E>): WriteRoute {
  return { ...given, ...partsOf(endpoint), mode: 'write' }
}

/** A route that reads or answers bit by bit, on its own. */
export function streamRoute<E extends Endpoint>(endpoint: E, given: Given<StreamRoute, E>): StreamRoute {
  return { ...given, ...partsOf(endpoint), mode: 'stream' }
}

/** A route of every type, as one of them answers it. */
export function routeOfType(
  route: ReadRoute,
  type: string,
  given: Pick<ReadRoute, 'handle'> & Partial<Pick<ReadRoute, 'needs'>>,
): ReadRoute {
  return { ...route, path: route.path.replace(':type', type), ...given }
}

function partsOf(endpoint: Endpoint): Pick<Route, 'method' | 'path'> {
  const [method, path] = endpoint.split(' ') as [Route['method'], string]
  return { method, path }
}
