import { answers, body, errors, listOf, RESPONSES, ref, SCHEMAS } from '../../doors/openapi/common.ts'
import { record, TEXT, TEXT_OR_NULL, WHOLE } from '../../doors/openapi/record.ts'
import type { Schema } from '../../doors/openapi/schemas.ts'

const FLAG = { type: 'boolean' }

const NODE = record(
  'A node that is alive.',
  {
    name: TEXT,
    url: { ...TEXT, description: 'Where other nodes reach it.' },
    draining: { ...FLAG, description: 'It gives its tenants away and takes no others.' },
    tenants: { ...WHOLE, description: 'How many tenants it owns.' },
    layout: { ...WHOLE, description: 'The newest layout of tables that it knows.' },
    isThis: { ...FLAG, description: 'It has answered this request.' },
  },
  ['name', 'url', 'draining', 'tenants', 'layout', 'isThis'],
)

const HERE = record(
  'The part of the node that has answered.',
  {
    node: TEXT_OR_NULL,
    leaseTrusted: FLAG,
    owned: WHOLE,
    pendingChanges: { ...WHOLE, description: 'Commits that are not in the log yet.' },
    followed: WHOLE,
    lagChanges: { ...WHOLE, description: 'How many changes its replicas are behind the log.' },
    claims: WHOLE,
    gateMs: { type: 'number', description: 'How long an answer waits for the log, on average.' },
  },
  ['node', 'leaseTrusted', 'owned', 'pendingChanges', 'followed', 'lagChanges', 'claims', 'gateMs'],
)

const PLACE = record(
  'Where a tenant is.',
  {
    tenant: TEXT,
    owner: { ...TEXT_OR_NULL, description: 'The node that owns it; null when none does at the moment.' },
    epoch: { ...WHOLE, description: 'Raised each time that the owner changes.' },
    head: { ...WHOLE, description: 'How many commits are in the log.' },
    snapshot: { ...WHOLE, description: 'The commit that the newest snapshot was made after.' },
    pin: { ...TEXT_OR_NULL, description: 'The node that the operator has chosen for it.' },
    layout: WHOLE,
    due: { type: ['integer', 'null'], description: 'When it has something to do; 0 while it is open.' },
  },
  ['tenant', 'owner', 'epoch', 'head', 'snapshot', 'pin', 'layout', 'due'],
)

const STATUS = record(
  '',
  {
    nodes: { type: 'array', items: ref('Node') },
    unowned: { ...WHOLE, description: 'Tenants without a node that is alive.' },
    here: ref('Here'),
    tenant: ref('Place'),
  },
  ['nodes', 'unowned', 'here'],
)

const LISTED = record('A tenant in the list.', { tenant: TEXT, node: TEXT_OR_NULL, changes: WHOLE }, [
  'tenant',
  'node',
  'changes',
])

const query = (name: string, schema: Schema, description: string) => ({ name, in: 'query', schema, description })

/** The OpenAPI document of what the operator can do with a cluster. */
export function clusterDocument(version: string): Schema {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tildebase cluster',
      version,
      description: 'The paths of the operator of a cluster. Every node answers them.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ operator: [] }],
    tags: [{ name: 'cluster', description: 'Nodes, and where tenants are.' }],
    paths: {
      '/operator/cluster': { get: STATUS_OPERATION },
      '/operator/cluster/drain': { post: DRAIN_OPERATION },
      '/operator/cluster/move': { post: MOVE_OPERATION },
      '/operator/tenants': { get: LIST_OPERATION },
    },
    components: {
      securitySchemes: { operator: { type: 'http', scheme: 'bearer', description: 'The operator key.' } },
      schemas: { Error: SCHEMAS.Error, Node: NODE, Here: HERE, Place: PLACE, Status: STATUS, Listed: LISTED },
      responses: RESPONSES,
    },
  }
}

const STATUS_OPERATION = {
  operationId: 'get_cluster',
  summary: 'Nodes, and where a tenant is',
  description: 'Returns the nodes that are alive, what this node does, and where one tenant is if the query names it.',
  tags: ['cluster'],
  parameters: [query('tenant', TEXT, 'The tenant to look for.')],
  responses: { 200: answers('The state of the cluster.', ref('Status')), ...errors(400, 401, 403, 404, 405, 500, 503) },
}

const DRAIN_OPERATION = {
  operationId: 'drain_node',
  summary: 'Empty a node',
  description: 'Lets a node give its tenants to the others, or take tenants again with `draining: false`.',
  tags: ['cluster'],
  requestBody: body(
    record('', { node: TEXT, draining: { ...FLAG, default: true } }, ['node']),
    true,
    { node: 'node-2' },
    'The node, by its name.',
  ),
  responses: {
    200: answers('The node is marked.', record('', { node: TEXT, draining: FLAG }, ['node', 'draining'])),
    ...errors(400, 401, 403, 404, 405, 500, 503),
  },
}

const MOVED = record('', { tenant: TEXT, node: TEXT_OR_NULL }, ['tenant', 'node'])

const MOVE_OPERATION = {
  operationId: 'move_tenant',
  summary: 'Move a tenant',
  description: 'Moves a tenant to a node and keeps it there. With `node: null` it is where the cluster places it.',
  tags: ['cluster'],
  requestBody: body(MOVED, true, { tenant: 'acme', node: 'node-3' }, 'The tenant, and the name of a node or null.'),
  responses: {
    200: answers('The tenant was given to the node.', MOVED),
    202: answers('The tenant could not leave yet. It is moved as soon as it can.', MOVED),
    ...errors(400, 401, 403, 404, 405, 500, 503),
  },
}

const LIST_OPERATION = {
  operationId: 'list_tenants',
  summary: 'All tenants',
  description: 'Returns the tenants of all nodes by their names.',
  tags: ['cluster'],
  parameters: [
    query('limit', WHOLE, 'The most tenants of a page.'),
    query('offset', WHOLE, 'How many tenants to leave out.'),
    query('cursor', TEXT, 'The cursor of the page before.'),
  ],
  responses: { 200: answers('A page of tenants.', listOf(ref('Listed'))), ...errors(400, 401, 403, 405, 500, 503) },
}
