import { eventView } from '@tildebase/tenant'
import { type Answer, json } from './ask.ts'
import type { Call } from './call.ts'
import { withoutSecrets } from './secrets.ts'

/** Runs a write that leaves no trace: what it would answer, and the events it would write. */
export function rehearsal(call: Call, work: () => Answer): Answer {
  const { result, events } = call.tenant.rehearse(work)
  const body = typeof result.body === 'string' && result.body !== '' ? JSON.parse(result.body) : null
  return json(200, {
    dryRun: true,
    status: result.status,
    // A secret that was never issued is not shown.
    result: withoutSecrets(body),
    events: events.map((event) => eventView(event, call.tenant)),
  })
}
