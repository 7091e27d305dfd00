import { catalogue, type Noun } from '@tildebase/nouns'
import type { Match, ReadRoute, Route, RouteTable, StreamRoute, WriteRoute } from './call.ts'
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

function partsOf(endpoint: Endpoint): Place {
  const [method, path] = endpoint.split(' ') as [Route['method'], string]
  return { method, path }
}

/** Where a route is found. */
type Place = Pick<Route, 'method' | 'path'>

/**
 * The routes, found by method and path. Words beat parameters: `/events` is not a type. A path that begins with the name
 * of a type is also found below its plural path.
 */
export class Routes<R extends Place = Route> implements RouteTable<R> {
  readonly all: readonly R[]
  readonly #byLength = new Map<number, Paths<R>>()

  constructor(routes: readonly R[]) {
    this.all = routes
    const named = [...routes, ...routes.map(pluralOf).filter((route) => route !== null)]
    const paths = [...Map.groupBy(named, (route) => route.path)].map(([path, same]) => pathOf(path, same))
    paths.sort((a, b) => a.parameters - b.parameters)
    for (const [length, list] of Map.groupBy(paths, ({ parts }) => parts.length)) {
      const words = new Set(list.flatMap(({ parts }) => parts[0] ?? []))
      const beginning = (word: string | null) => list.filter(({ parts }) => [word, null].includes(parts[0] ?? null))
      this.#byLength.set(length, {
        byWord: new Map([...words].map((word) => [word, beginning(word)])),
        others: beginning(null),
      })
    }
  }

  /** The route of a request; or the methods that its path does answer; or null when nothing is there. */
  find(method: string, segments: readonly string[]): Match<R> | { readonly allow: readonly string[] } | null {
    const closest = this.#closest(segments)
    const found = closest.find((path) => routeOf(path, method))
    if (found) return { route: routeOf(found, method)!, params: paramsOf(found, segments) }
    if (closest.length === 0) return null
    return { allow: [...new Set(closest.flatMap(({ methods }) => [...methods.keys()]))] }
  }

  /** The path of the route of a request, as the table writes it, or null. */
  pathOf(method: string, segments: readonly string[]): string | null {
    for (const path of this.#closest(segments)) if (routeOf(path, method)) return routeOf(path, method)!.path
    return null
  }

  /** A path of more words hides those with fewer: DELETE /batch is not the deletion of a type called batch. */
  #closest(segments: readonly string[]): readonly Path<R>[] {
    const closest: Path<R>[] = []
    const paths = this.#byLength.get(segments.length)
    for (const path of paths?.byWord.get(segments[0] ?? '') ?? paths?.others ?? []) {
      if (closest.length > 0 && path.parameters > closest[0]!.parameters) break
      if (fits(path.parts, segments)) closest.push(path)
    }
    return closest
  }
}

/** The paths of one length, by the word that they begin with; `others` begin with a parameter. All in order. */
interface Paths<R> {
  readonly byWord: ReadonlyMap<string, readonly Path<R>[]>
  readonly others: readonly Path<R>[]
}

/** The routes of one path. */
interface Path<R> {
  /** Words, and null where there is a parameter. */
  readonly parts: readonly (string | null)[]
  readonly names: readonly string[]
  /** How many of its parts are parameters. */
  readonly parameters: number
  readonly methods: ReadonlyMap<string, R>
}

const NOUNS: { readonly [name: string]: Noun } = catalogue as never

function pluralOf<R extends Place>(route: R): R | null {
  const [, name = ''] = route.path.split('/')
  return Object.hasOwn(NOUNS, name) ? { ...route, path: route.path.replace(name, NOUNS[name]!.path) } : null
}

function routeOf<R>({ methods }: Path<R>, method: string): R | undefined {
  return methods.get(method === 'HEAD' ? 'GET' : method)
}

function fits(parts: Path<unknown>['parts'], segments: readonly string[]): boolean {
  for (let i = 0; i < parts.length; i++) if (parts[i] !== null && parts[i] !== segments[i]) return false
  return true
}

function pathOf<R extends Place>(path: string, routes: readonly R[]): Path<R> {
  const parts = path.split('/').slice(1)
  return {
    parts: parts.map((part) => (isParameter(part) ? null : part)),
    names: parts.map((part) => part.slice(1)),
    parameters: parts.filter(isParameter).length,
    methods: new Map(routes.map((route) => [route.method, route])),
  }
}

function isParameter(part: string): boolean {
  return part.startsWith(':')
}

function paramsOf({ parts, names }: Path<unknown>, segments: readonly string[]): { [name: string]: string } {
  const params: { [name: string]: string } = {}
  for (let i = 0; i < parts.length; i++) if (parts[i] === null) params[names[i]!] = segments[i]!
  return params
}
