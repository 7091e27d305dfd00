import type { RunResult, TenantWriter } from '@tildebase/tenant'
import { CONNECTORS } from '@tildebase/tenant/internal'
import type { Call, Route } from '../call.ts'
import { answer, jsonBody } from '../describe/description.ts'
import { ANY_OBJECT, record, ref, TEXT } from '../describe/schema.ts'
import { entityReply, type Reply, WARNINGS } from '../reply.ts'
import { streamRoute, writeRoute } from '../route.ts'

const MAIL_PROVIDERS = ['smtp', 'imap']
const TOKEN = record(
  'The credentials. They are stored encrypted, and never returned.',
  { token: TEXT, username: TEXT, password: TEXT },
  [],
)
const CREDENTIALS = record('', { credentials: TOKEN }, [])

/** What an integration does in addition to the verbs of every type. */
export const integrationRoutes: readonly Route[] = [
  streamRoute('POST /Integration/:id/connect', {
    summary: 'Connect an integration with credentials that its provider accepts',
    needs: 'write:platform',
    also: 'the rights of the integration',
    body: jsonBody(CREDENTIALS, { credentials: { token: 'pat-eu1-1234' } }, 'The credentials.', false),
    answers: { 200: answer(ref('Integration')) },
    handle: connect,
  }),
  writeRoute('POST /Integration/:id/sync', {
    summary: 'Start a run of an integration',
    needs: 'write:platform',
    also: 'the rights of the integration',
    body: jsonBody(ANY_OBJECT, {}, 'Nothing.', false),
    answers: { 202: answer(ref('Integration')), 200: answer(ref('Integration')) },
    handle: sync,
  }),
]

async function connect(call: Call): Promise<Reply> {
  const { tenant, grant, params, body } = call
  const checked = await tenant.checkCredentials(grant, params.id!, body)
  const result = await tenant.write(grant, call.writes, call.newBudget(), (write) =>
    write.connectIntegration(params.id!, body, checked),
  )
  return reply(call, result, 200)
}

function sync(call: Call, write: TenantWriter): Reply {
  const data = call.body ?? {}
  return reply(call, write.run({ type: 'Integration', verb: 'sync', id: call.params.id!, data }), 202)
}

/** The answer with this status; for a provider without a connector, one that says so. */
function reply({ context }: Call, result: RunResult, status: number): Reply {
  const made = entityReply(result, context)
  const provider = String(JSON.parse(result.entity.data).provider ?? '').toLowerCase()
  if (Object.hasOwn(CONNECTORS, provider) || MAIL_PROVIDERS.includes(provider)) return { ...made, status }
  return { ...made, headers: { ...made.headers, [WARNINGS]: '[{"warning":"not_configured"}]' } }
}
