import type { Call } from './call.ts'
import type { HttpResponse } from './http.ts'

/** What a route needs of the key: nothing more than being valid, an area, or an action on the type it names. */
export type Need =
  | { readonly action: 'read' | 'write' | 'admin'; readonly on: 'type' }
  | { readonly action: 'read' | 'write' | 'admin'; readonly on: 'area'; readonly area: string }
  /** The handler leaves out, or refuses, what the key may not see. */
  | { readonly action: 'read' | 'write'; readonly on: 'each' }
  | 'key'

/** One row of the table that routing, scopes and OpenAPI are read from. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the tenant: `/:type/:id`. */
  readonly path: string
  readonly needs: Need
  readonly summary: string
  /** read: answers at once. write: runs inside a commit. stream: reads or answers bit by bit, on its own. */
  readonly mode: 'read' | 'write' | 'stream'
  readonly handle: (call: Call) => HttpResponse | Promise<HttpResponse>
  /** True for bodies that are not JSON, or too large to be held: the handler reads `ask.body` itself. */
  readonly rawBody?: boolean
  /** True for a POST that pays no heed to an Idempotency-Key; docs/api.md says why. */
  readonly repeats?: boolean
}

export interface Match {
  readonly route: Route
  readonly params: { readonly [name: string]: string }
}

/** The routes, found by method and path. Words beat parameters: `/events` is not a type. */
export class Routes {
  readonly all: readonly Route[]
  readonly #byLength = new Map<number, Path[]>()

  constructor(routes: readonly Route[]) {
    this.all = routes
    for (const [path, same] of Map.groupBy(routes, (route) => route.path)) {
      const parts = path.split('/').slice(1)
      const list = this.#byLength.get(parts.length) ?? []
      list.push({
        parts: parts.map((part) => (isParameter(part) ? null : part)),
        names: parts.map((part) => part.slice(1)),
        parameters: parts.filter(isParameter).length,
        methods: new Map(same.map((route) => [route.method, route])),
      })
      this.#byLength.set(parts.length, list)
    }
    for (const list of this.#byLength.values()) list.sort((a, b) => a.parameters - b.parameters)
  }

  /** The route of a request; or the methods that its path does answer; or null when nothing is there. */
  find(method: string, segments: readonly string[]): Match | { readonly allow: readonly string[] } | null {
    const closest = this.#closest(segments)
    const found = closest.find((path) => routeOf(path, method))
    if (found) return { route: routeOf(found, method)!, params: paramsOf(found, segments) }
    return closest.length > 0 ? { allow: closest.flatMap(({ methods }) => [...methods.keys()]) } : null
  }

  /** The path of the route of a request, as the table writes it, or null. */
  pathOf(method: string, segments: readonly string[]): string | null {
    for (const path of this.#closest(segments)) if (routeOf(path, method)) return routeOf(path, method)!.path
    return null
  }

  /** A path of more words hides those with fewer: DELETE /batch is not the deletion of a type called batch. */
  #closest(segments: readonly string[]): readonly Path[] {
    const closest: Path[] = []
    for (const path of this.#byLength.get(segments.length) ?? []) {
      if (closest.length > 0 && path.parameters > closest[0]!.parameters) break
      if (fits(path.parts, segments)) closest.push(path)
    }
    return closest
  }
}

/** The routes of one path. */
interface Path {
  /** Words, and null where there is a parameter. */
  readonly parts: readonly (string | null)[]
  readonly names: readonly string[]
  /** How many of its parts are parameters. */
  readonly parameters: number
  readonly methods: ReadonlyMap<string, Route>
}

function routeOf({ methods }: Path, method: string): Route | undefined {
  return methods.get(method === 'HEAD' ? 'GET' : method)
}

function fits(parts: Path['parts'], segments: readonly string[]): boolean {
  for (let i = 0; i < parts.length; i++) if (parts[i] !== null && parts[i] !== segments[i]) return false
  return true
}

function isParameter(part: string): boolean {
  return part.startsWith(':')
}

function paramsOf({ parts, names }: Path, segments: readonly string[]): { [name: string]: string } {
  const params: { [name: string]: string } = {}
  for (let i = 0; i < parts.length; i++) if (parts[i] === null) params[names[i]!] = segments[i]!
  return params
}
