import type { HttpRequest } from '../../doors/http.ts'
import type { TenantCall } from '../../doors/tenant-call.ts'
import type { LogRequest } from '../../doors/watch/log-request.ts'
import type { OperatorTask } from '../../host/operator.ts'

/** What the Worker asks of a tenant's object. It travels in a header that the Worker always sets itself. */
export type ObjectCommand = { readonly slug: string } & (
  | ({ readonly do: 'handle' } & Omit<TenantCall, 'slug' | 'request'>)
  | { readonly do: 'verify'; readonly secret: string }
  | { readonly do: 'task'; readonly task: ObjectTask; readonly requestId: string }
)

/** What the operator asks of a tenant as a whole. */
export type ObjectTask =
  | { readonly do: 'info' | 'verify' | 'delete' | 'create' }
  | Extract<OperatorTask, { readonly do: 'log' | 'replay' | 'readContent' | 'writeContent' }>
  /** A slice of the log, as much as fits into the memory of an object. The header MORE says whether others follow. */
  | { readonly do: 'slice'; readonly question: LogRequest }
  /** Makes a new tenant of a backup in the bucket. */
  | { readonly do: 'restore'; readonly from: string; readonly asOf: number | null }

/** The header of a slice that others follow. */
export const MORE = 'tilde-more'

const HEADER = 'tilde-command'

/** The request that brings a command, and with it what a client asked, to a tenant's object. */
export function commandRequest(command: ObjectCommand, sent: HttpRequest | null): Request {
  if (sent === null) return new Request('http://tenant/', { headers: { [HEADER]: written(command) } })
  const { method, scheme, host, path, query, headers, body } = sent
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
