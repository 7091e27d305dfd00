import type { Sender } from '../app.ts'
import type { HttpRequest } from '../http.ts'
import type { LogRequest } from '../log-request.ts'
import type { RequestTarget } from '../target.ts'

/** What the Worker asks of a tenant's object. It travels in a header that the Worker always sets itself. */
export type ObjectCommand = { readonly slug: string } & (
  | { readonly do: 'answer'; readonly place: RequestTarget; readonly sender: Sender; readonly requestId: string }
  | { readonly do: 'verify'; readonly secret: string }
  | { readonly do: 'keep'; readonly task: Task; readonly requestId: string }
)

/** What the operator asks of a tenant as a whole; the log of `replay` is the body of the request. */
export type Task =
  | { readonly do: 'info' | 'verify' | 'delete' | 'replay' }
  | { readonly do: 'log'; readonly question: LogRequest }

const HEADER = 'tilde-errand'

/** The request that brings an errand, and with it what a client asked, to a tenant's object. */
export function commandRequest(errand: ObjectCommand, ask: HttpRequest | null): Request {
  if (ask === null) return new Request('http://tenant/', { headers: { [HEADER]: written(errand) } })
  const { method, scheme, host, path, query, headers, body } = ask
  return new Request(`${scheme}://${host}${path}${query && `?${query}`}`, {
    method,
    headers: { ...(headers as Record<string, string>), [HEADER]: written(errand) },
    body: method === 'GET' || method === 'HEAD' ? null : (body as BodyInit | null),
    duplex: 'half',
  } as RequestInit)
}

/** The errand that a request brings. */
export function commandOf(request: Request): ObjectCommand {
  return JSON.parse(decodeURIComponent(request.headers.get(HEADER)!))
}

/** A header holds plain letters only. */
function written(errand: ObjectCommand): string {
  return encodeURIComponent(JSON.stringify(errand))
}
