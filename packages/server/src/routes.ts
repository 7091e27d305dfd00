import type { Match, Route, RouteTable } from './call.ts'

/** The routes, found by method and path. Words beat parameters: `/events` is not a type. */
export class Routes implements RouteTable {
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
