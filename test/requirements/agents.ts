import { requirements } from './requirement.ts'

/** Proposals, events and pages where people talk to their agents. */
export const agents = requirements('agents', {
  X1: {
    'mcp.conformance': 'MCP passes the official conformance suite for 2026-07-28 and 2025-11-25.',
  },
  X2: {
    'mcp.task': 'A proposal through do is a task for a client that declares tasks.',
    'mcp.task.url': 'A task that waits for a person is input_required with a URL.',
    'mcp.task.working': 'A task is working, with the URL in statusMessage, if the client opens no URL.',
    'mcp.task.reject': 'A task completes when a person rejects the proposal.',
    'mcp.task.cancel': 'tasks/cancel closes the changeset as rejected by its author.',
    'mcp.task.update': 'Responses of the client decide nothing.',
    'mcp.task.others': 'Other clients get the changeset and the URL at once.',
    'agent.approves.nothing': 'No OAuth token approves a changeset.',
    'decide.page': 'The page of a proposal is shown to a person who signed in.',
    'decide.framed': 'The page of a proposal cannot be framed.',
    'decide.signature': 'The address of the page has a signature for this changeset that expires with it.',
    'decide.rights': 'The decision needs the rights of the person for every operation.',
    'agent.verbs': 'A verb that asks something of an Agent warns not_configured if no agent is called.',
    'agent.http': 'A verb that asks something of an Agent calls its HTTP endpoint; the answer is an event.',
    'agent.mcp': 'An Agent behind MCP is called by a tool.',
    'agent.retries': 'Calls of an Agent are repeated with one Idempotency-Key, and end as an event.',
    'agent.runs': 'GET …/Agent/:id/runs lists the calls of an Agent.',
    'agent.endpoint': 'The endpoint of an Agent is checked, and has an author; one with a secret needs admin:platform.',
  },
  X3: {
    'mcp.apps': 'The tools name a ui:// page for clients that declare MCP Apps.',
    'mcp.apps.offline': 'The pages need no network beyond the host bridge.',
    'mcp.apps.host': 'The pages follow the theme of the host and show a diff, a list and an entity with its history.',
  },
  X4: {
    'mcp.events.list': 'events/list offers an event type per noun and verb that the grant may read.',
    'mcp.events.subscribe': 'events/subscribe answers id, refreshBefore, cursor and truncated.',
    'mcp.events.challenge': 'The address of a subscription is challenged first, per caller and address.',
    'mcp.events.private': 'An address that turns private after its challenge gets no connection.',
    'mcp.events.delivery':
      'Deliveries have eventId, name, timestamp, data and cursor, and the Standard Webhooks headers.',
    'mcp.events.unsubscribe': 'events/unsubscribe ends a subscription.',
    'mcp.events.rights': 'A subscription sees what its grant allows at delivery.',
    'mcp.events.ends': 'A subscription ends with its key or token, with {"type": "terminated"}.',
    'mcp.events.errors': 'Errors of events are -32602 or the codes of the working group.',
    'mcp.events.listed': 'Subscriptions are listed for administrators with the tokens.',
  },
  X5: {
    'server.json': 'server.json for the MCP registry is made by the build, and valid.',
  },
})
