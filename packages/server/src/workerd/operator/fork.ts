import type { HttpRequest, HttpResponse } from '../../doors/http.ts'
import type { LogRequest } from '../../doors/watch/log-request.ts'
import type { DurableTenants } from '../durable-tenants.ts'
import { MORE } from '../object/object-command.ts'

/** Reads the log of one object, up to a time when one is given, into another that is new: slice by slice. */
export async function forkTenant(
  slug: string,
  to: string,
  asOf: number | null,
  request: HttpRequest,
  requestId: string,
  tenants: DurableTenants,
): Promise<HttpResponse> {
  const inner = { ...request, query: '', headers: {}, body: null }
  for (let after = 0; ; ) {
    const question: LogRequest = { after, waitMs: 0, beside: 'none', asOf, fork: true }
    const slice = await tenants.task(slug, { do: 'slice', question }, { ...inner, method: 'GET' }, requestId)
    if (slice.status !== 200) return slice
    const more = slice.headers[MORE] !== undefined
    const body = slice.body as HttpRequest['body']
    const taken = await tenants.task(to, { do: 'replay', more, of: null }, { ...inner, body }, requestId)
    if (taken.status !== 202) return taken
    after = JSON.parse(await new Response(taken.body as BodyInit).text()).events
  }
}
