import type { Answer } from './ask.ts'
import type { Call } from './call.ts'

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
  readonly handle: (call: Call) => Answer | Promise<Answer>
  /** True for bodies that are not JSON, or too large to be held: the handler reads `ask.body` itself. */
  readonly rawBody?: boolean
}

export interface Match {
  readonly route: Route
  readonly params: { readonly [name: string]: string }
}

/** The routes, found by method and path. Words beat parameters: `/events` is not a type. */
export class Routes {
  readonly all: readonly Route[]
  readonly #byLength = new Map<number, { route: Route; parts: readonly string[] }[]>()

  constructor(routes: readonly Route[]) {
    this.all = routes
    for (const route of routes) {
      const parts = route.path.split('/').slice(1)
      const list = this.#byLength.get(parts.length) ?? []
      list.push({ route, parts })
      this.#byLength.set(parts.length, list)
    }
    for (const list of this.#byLength.values()) list.sort((a, b) => parameters(a.parts) - parameters(b.parts))
  }

  /** The route of a request; or the methods that its path does answer; or null when nothing is there. */
  find(method: string, segments: readonly string[]): Match | { readonly allow: readonly string[] } | null {
    const wanted = method === 'HEAD' ? 'GET' : method
    const fitting = (this.#byLength.get(segments.length) ?? []).filter(({ parts }) => fits(parts, segments))
    // A path of more words hides those with fewer: DELETE /batch is not the deletion of a type called batch.
    const fewest = fitting[0] && parameters(fitting[0].parts)
    const closest = fitting.filter(({ parts }) => parameters(parts) === fewest)
    if (closest.length === 0) return null
    const found = closest.find(({ route }) => route.method === wanted)
    if (found) return { route: found.route, params: paramsOf(found.parts, segments) }
    return { allow: closest.map(({ route }) => route.method) }
  }
}

function fits(parts: readonly string[], segments: readonly string[]): boolean {
  for (let i = 0; i < parts.length; i++) if (!parts[i]!.startsWith(':') && parts[i] !== segments[i]) return false
  return true
}

function parameters(parts: readonly string[]): number {
  return parts.filter((part) => part.startsWith(':')).length
}

function paramsOf(parts: readonly string[], segments: readonly string[]): { [name: string]: string } {
  const params: { [name: string]: string } = {}
  for (let i = 0; i < parts.length; i++) if (parts[i]!.startsWith(':')) params[parts[i]!.slice(1)] = segments[i]!
  return params
}
