import type { RunResult, TenantWriter } from '@tildebase/tenant'
import { CONNECTORS } from '@tildebase/tenant/internal'
import type { Call, Route } from '../call.ts'
import { answer, jsonBody } from '../describe/description.ts'
import { ANY_OBJECT, FLAG, listOf, record, ref, TEXT, TEXT_OR_NULL, TIME, WHOLE } from '../describe/schema.ts'
import { entityReply, json, type Reply, WARNINGS } from '../reply.ts'
import { readRoute, streamRoute, writeRoute } from '../route.ts'

const MAIL_PROVIDERS = ['smtp', 'imap']
const TOKEN = record(
  'The credentials. They are stored encrypted, and never returned.',
  { token: TEXT, user: TEXT, password: TEXT, url: TEXT },
  [],
)
const CREDENTIALS = record('', { credentials: TOKEN }, [])
const RUN = record(
  'The run in progress, and what it has done so far.',
  {
    running: FLAG,
    begunAt: TIME,
    object: TEXT_OR_NULL,
    created: WHOLE,
    updated: WHOLE,
    unchanged: WHOLE,
    failed: WHOLE,
  },
  ['running'],
)
const ISSUE = record('', { field: TEXT, message: TEXT }, ['field', 'message'])
const RECORD = record(
  'A record of the provider: its values, and what would be written.',
  { source: TEXT, values: ANY_OBJECT, data: ANY_OBJECT, issues: listOf(ISSUE) },
  ['source', 'values', 'data', 'issues'],
)
const OBJECT = record('', { object: TEXT, type: TEXT, records: listOf(RECORD), error: TEXT }, [
  'object',
  'type',
  'records',
])
const PREVIEW = record(
  'Up to five records of each object of the mapping.',
  { mapping: ANY_OBJECT, default: ANY_OBJECT, objects: listOf(OBJECT) },
  ['mapping', 'default', 'objects'],
)
const MAPPING = record('', { mapping: ANY_OBJECT }, [])

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
  readRoute('GET /Integration/:id/run', {
    summary: 'Watch the run of an integration',
    needs: 'read:platform',
    answers: { 200: answer(RUN) },
    handle: (call) => {
      const run = call.tenant.integrationRun(seen(call))
      return json(200, { running: run !== null, ...run })
    },
  }),
  streamRoute('POST /Integration/:id/stop', {
    summary: 'Stop the run of an integration',
    needs: 'write:platform',
    also: 'the rights of the integration',
    body: jsonBody(ANY_OBJECT, {}, 'Nothing.', false),
    answers: { 202: answer(RUN), 200: answer(RUN) },
    handle: stop,
  }),
  streamRoute('POST /Integration/:id/preview', {
    summary: 'Show records of an integration as a mapping would write them',
    needs: 'write:platform',
    also: 'the rights of the integration',
    repeats: true,
    body: jsonBody(
      MAPPING,
      { mapping: { contacts: { type: 'Contact', fields: { email: 'email' } } } },
      'A mapping to try in place of its own.',
      false,
    ),
    answers: { 200: answer(PREVIEW) },
    handle: async (call) => json(200, await call.tenant.previewIntegration(call.grant, changeable(call), call.body)),
  }),
]

/** The id of an integration that the caller may see. */
function seen({ read, params }: Call): string {
  return read.get(read.noun('Integration'), params.id!).id
}

/** The same, for a caller that may change integrations. */
function changeable(call: Call): string {
  call.read.demand('write', call.read.noun('Integration'))
  return seen(call)
}

async function stop(call: Call): Promise<Reply> {
  const { tenant, grant } = call
  const id = changeable(call)
  if (!tenant.stopIntegration(grant, id)) return json(200, { running: false })
  return json(202, { running: true, ...tenant.integrationRun(id) })
}

async function connect(call: Call): Promise<Reply> {
  const { tenant, grant, params, body } = call
  const checked = await tenant.checkCredentials(grant, changeable(call), body)
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
