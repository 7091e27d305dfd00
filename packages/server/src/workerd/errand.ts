import type { Sender } from '../app.ts'
import type { Ask } from '../ask.ts'
import type { Place } from '../locate.ts'
import type { LogQuestion } from '../portable.ts'

/** What the Worker asks of a tenant's object. It travels in a header that the Worker always sets itself. */
export type Errand = { readonly slug: string } & (
  | { readonly do: 'answer'; readonly place: Place; readonly sender: Sender; readonly requestId: string }
  | { readonly do: 'verify'; readonly secret: string }
  | { readonly do: 'keep'; readonly task: Task; readonly requestId: string }
)

/** What the operator asks of a tenant as a whole; the log of `replay` is the body of the request. */
export type Task =
  | { readonly do: 'info' | 'verify' | 'delete' | 'replay' }
  | { readonly do: 'log'; readonly question: LogQuestion }

const HEADER = 'tilde-errand'

/** The request that brings an errand, and with it what a client asked, to a tenant's object. */
export function errandRequest(errand: Errand, ask: Ask | null): Request {
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
export function errandOf(request: Request): Errand {
  return JSON.parse(decodeURIComponent(request.headers.get(HEADER)!))
}

/** A header holds plain letters only. */
function written(errand: Errand): string {
  return encodeURIComponent(JSON.stringify(errand))
}
