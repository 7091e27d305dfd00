import type { HttpRequest } from '../http.ts'
import type { LogRequest } from '../log-request.ts'
import type { Sender } from '../sender.ts'
import type { RequestTarget } from '../target.ts'

/** What the Worker asks of a tenant's object. It travels in a header that the Worker always sets itself. */
export type ObjectCommand = { readonly slug: string } & (
  | { readonly do: 'answer'; readonly target: RequestTarget; readonly sender: Sender; readonly requestId: string }
  | { readonly do: 'verify'; readonly secret: string }
  | { readonly do: 'task'; readonly task: ObjectTask; readonly requestId: string }
)

/** What the operator asks of a tenant as a whole; the log of `replay` is the body of the request. */
export type ObjectTask =
  | { readonly do: 'info' | 'verify' | 'delete' | 'replay' }
  | { readonly do: 'log'; readonly question: LogRequest }

const HEADER = 'tilde-command'

/** The request that brings an command, and with it what a client asked, to a tenant's object. */
export function commandRequest(command: ObjectCommand, ask: HttpRequest | null): Request {
  if (ask === null) return new Request('http://tenant/', { headers: { [HEADER]: written(command) } })
  const { method, scheme, host, path, query, headers, body } = ask
  return new Request(`${scheme}://${host}${path}${query && `?${query}`}`, {
    method,
    headers: { ...(headers as Record<string, string>), [HEADER]: written(command) },
    body: method === 'GET' || method === 'HEAD' ? null : (body as BodyInit | null),
    duplex: 'half',
    // Where an answer leads to is the client's matter.
    redirect: 'manual',
  } as RequestInit)
}

/** The command that a request brings. */
export function commandOf(request: Request): ObjectCommand {
  return JSON.parse(decodeURIComponent(request.headers.get(HEADER)!))
}

/** A header holds plain letters only. */
function written(command: ObjectCommand): string {
  return encodeURIComponent(JSON.stringify(command))
}
