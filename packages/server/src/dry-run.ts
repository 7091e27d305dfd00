import { eventView } from '@tildebase/tenant'
import type { Call } from './call.ts'
import { type HttpResponse, json } from './http.ts'
import { withoutSecrets } from './redact.ts'

/** Runs a write that leaves no trace: what it would answer, and the events it would write. */
export function dryRun(call: Call, work: () => HttpResponse): HttpResponse {
  const { result, events } = call.tenant.dryRun(work)
  const body = typeof result.body === 'string' && result.body !== '' ? JSON.parse(result.body) : null
  return json(200, {
    dryRun: true,
    status: result.status,
    // A secret that was never issued is not shown.
    result: withoutSecrets(body),
    events: events.map((event) => eventView(event, call.tenant)),
  })
}
