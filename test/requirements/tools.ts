import { requirements } from './requirement.ts'

/** The tool protocol and the code it runs. */
export const mcp = requirements('mcp', {
  'service.md#MCP': {
    'mcp.three': 'MCP offers the tools search, fetch and do, and no others.',
    'mcp.path': 'An agent connects to /~{tenant}/mcp, on any subdomain.',
    'mcp.bound': 'A connection of MCP cannot query another tenant.',
    'mcp.search': 'search takes type, filter, and optional sort and limit.',
    'mcp.search.sort': 'The sort of search maps a field to 1 or -1.',
    'mcp.fetch': 'fetch takes type, id and an optional include.',
    'mcp.do': 'do runs code against the entity API with find, get, count and verbs.',
  },
  C10: { 'mcp.asOf': 'search and fetch of MCP accept asOf.' },
  J1: {
    'mcp.http': 'MCP is served as Streamable HTTP with a Bearer key.',
    'mcp.tools': 'The tools are exactly search, fetch and do.',
    'mcp.fetch.special': 'fetch also serves the types Schema, Metric and Status.',
    'mcp.sort.forms': 'sort accepts 1, -1, asc, desc, or the REST string.',
  },
  J2: {
    'do.code': 'do takes code in TypeScript or JavaScript with top-level await.',
    'do.result': 'The last expression or return is the result of do.',
    'do.scopes': '$ is bound to the tenant and to the scopes of the key.',
    'do.isolated': 'Code in do reaches no network, no files and no host objects.',
    'do.time': 'Code in do that runs over 10 seconds ends with a clear error.',
    'do.memory': 'Code in do that takes over 64 MiB ends with a clear error.',
    'do.operations': 'Code in do that makes over 1,000 operations ends with a clear error.',
    'do.blocks': 'Code in do does not block other requests.',
  },
  J3: {
    'hook.put': 'PUT /schema/:Type/hooks/:name stores sandboxed code for a step of a verb.',
    'hook.put.admin': 'Storing a hook needs admin.',
    'hook.put.tenant': 'A stored hook runs in its own tenant only.',
  },
  M11: {
    'do.find': '$.Type.find(filter, options) gives an array.',
    'do.get': '$.Type.get(id) gives an entity or null.',
    'do.count': '$.Type has count and findOne.',
    'do.create': '$.Type has create(fields), update(id, fields) and delete(id).',
    'do.verb': '$.Type.verb(id, args) runs a verb.',
    'hook.code': 'A stored hook is {code}, a function expression (entity, $, args) => ….',
    'hook.code.before': 'A stored BEFORE hook may return fields to change.',
  },
})

/** Several operations in one request. */
export const batch = requirements('batch', {
  'service.md#Batch': {
    'batch.path': 'POST /~{tenant}/batch takes several operations in one request.',
  },
  'service.md#Filters': {
    'batch.filter': 'A batch takes a filter as JSON.',
  },
  E1: {
    'batch.shape': 'An operation has id, method and path, and optional body and query.',
    'batch.below': 'path is below the tenant.',
    'batch.query': 'query may hold filter, sort and the like as JSON.',
    'batch.answer': 'A batch answers 200 with results of {id, status, body} in order.',
    'batch.cap': 'A batch holds at most 100 operations.',
  },
  E2: {
    'batch.ref.body': 'A body value {"$ref": "op1", "path": "$id"} is taken from an earlier result.',
    'batch.ref.path': '${op1.$id} inside path is taken from an earlier result.',
    'batch.ref.failed': 'An operation that refers to a failed one has status 424 dependency_failed.',
  },
  E3: {
    'batch.atomic': 'An atomic batch is written whole or not at all.',
    'batch.atomic.failed': 'A failed atomic batch answers 422 batch_failed with results that tell which.',
  },
  M10: {
    'batch.slash': 'path may begin with a slash or not.',
    'batch.ref.invalid': 'A $ref to an unknown or later operation answers 400 invalid_ref for that operation.',
  },
})

/** The business snapshot, single metrics, funnels and goals. */
export const metrics = requirements('metrics', {
  'service.md#Metrics': {
    'metrics.snapshot': 'GET /metrics answers revenue, pipeline, product, support and marketing.',
    'metric.byName': 'GET /Metric/:name answers one metric by name.',
  },
  'service.md#Values that follow from Events': {
    'metrics.derived': 'Events feed Metric, Funnel and Goal.',
    'funnel.matching': 'A step of a funnel is complete when an event with its name has happened.',
  },
  I1: {
    'metrics.revenue': 'revenue holds mrr, arr, nrr, churn and ltv.',
    'metrics.pipeline': 'pipeline holds totalDeals, totalValue and stages.',
    'metrics.product': 'product holds activeSubscriptions, trialConversions, plans, events30d and activeUsers30d.',
    'metrics.support': 'support holds openTickets, avgResponseHours and satisfaction.',
    'metrics.marketing': 'marketing holds activeCampaigns, leads30d and conversionRate.',
    'metrics.null': 'A number that the data cannot tell is null.',
    'metrics.asOf': 'The snapshot accepts asOf and names its asOf.',
  },
  I2: {
    'metric.stored': 'GET /Metric/:name answers a stored Metric of that name.',
    'metric.builtin': 'GET /Metric/:name answers each of the eleven built-in metrics.',
    'metric.shape': 'A built-in metric has value, unit and history.',
    'metric.history': 'history covers 12 months and comes from the log.',
  },
  I3: {
    'funnel.analyze': 'POST /Funnel/:id/analyze counts the ordered completion of its steps by event name.',
    'funnel.actor': 'Completion counts per userId, else anonymousId, else sessionId.',
    'goal.follows': 'A Goal follows its metric.',
  },
  M12: {
    'metrics.open': 'totalDeals and totalValue count open deals.',
    'metrics.stages': 'stages counts all deals by stage.',
    'metric.history.shape': 'history is 12 of {date, value}, months ascending.',
    'funnel.steps': 'The steps of a Funnel are event names or {name, event}.',
    'funnel.answer': 'analyze answers the Funnel with analysis: steps of {name, count, conversion} and conversionRate.',
    'goal.current': 'The current of a Goal is the value of its metric.',
    'goal.achieved': 'A Goal whose current reaches its target becomes Achieved.',
  },
})
