import { answer, jsonBody } from '../../doors/describe/description.ts'
import { query } from '../../doors/describe/parameters.ts'
import { FLAG, listOf, record, TEXT, TEXT_OR_NULL, WHOLE, whole } from '../../doors/describe/schema.ts'
import type { OperatorEndpoint } from '../../doors/openapi/operator-document.ts'
import { QUOTA } from '../../host/operator-routes.ts'

const LISTED = { tenant: TEXT, node: TEXT_OR_NULL, changes: WHOLE, ...QUOTA }

const NODE = whole({
  name: TEXT,
  url: { ...TEXT, description: 'Where other nodes reach it.' },
  draining: { ...FLAG, description: 'It gives its tenants away and takes no others.' },
  tenants: { ...WHOLE, description: 'How many tenants it owns.' },
  layout: { ...WHOLE, description: 'The newest layout of tables that it knows.' },
  isThis: { ...FLAG, description: 'It has answered this request.' },
})

const HERE = whole({
  node: TEXT_OR_NULL,
  leaseTrusted: FLAG,
  owned: WHOLE,
  pendingChanges: { ...WHOLE, description: 'Commits that are not in the log yet.' },
  followed: WHOLE,
  lagChanges: { ...WHOLE, description: 'How many changes its replicas are behind the log.' },
  claims: WHOLE,
  gateMs: { type: 'number', description: 'How long an answer waits for the log, on average.' },
})

const PLACE = whole({
  tenant: TEXT,
  owner: { ...TEXT_OR_NULL, description: 'The node that owns it; null when none does at the moment.' },
  epoch: { ...WHOLE, description: 'Raised each time that the owner changes.' },
  head: { ...WHOLE, description: 'How many commits are in the log.' },
  snapshot: { ...WHOLE, description: 'The commit that the newest snapshot was made after.' },
  pin: { ...TEXT_OR_NULL, description: 'The node that the operator has chosen for it.' },
  layout: WHOLE,
  due: { type: ['integer', 'null'], description: 'When it has something to do; 0 while it is open.' },
})

const STATUS = record(
  '',
  {
    nodes: { type: 'array', items: NODE, description: 'The nodes that are alive.' },
    unowned: { ...WHOLE, description: 'Tenants without a node that is alive.' },
    here: HERE,
    tenant: PLACE,
  },
  ['nodes', 'unowned', 'here'],
)

const MOVED = whole({ tenant: TEXT, node: TEXT_OR_NULL })

const CLUSTER = { needs: 'the operator key', tag: 'cluster' } as const

/** The endpoints for the operator of a cluster. Every node answers them. */
export const clusterRoutes: readonly OperatorEndpoint[] = [
  {
    method: 'GET',
    path: '/operator/cluster',
    ...CLUSTER,
    summary: 'Read the nodes, and where a tenant is',
    params: [query('tenant', 'The tenant to look for.', 'acme')],
    answers: { 200: answer(STATUS) },
  },
  {
    method: 'POST',
    path: '/operator/cluster/drain',
    ...CLUSTER,
    summary: 'Let a node give its tenants to the others',
    body: jsonBody(
      record('', { node: TEXT, draining: { ...FLAG, default: true } }, ['node']),
      { node: 'node-2' },
      'The name of the node. With `draining: false` it takes tenants again.',
    ),
    answers: { 200: answer(whole({ node: TEXT, draining: FLAG })) },
  },
  {
    method: 'POST',
    path: '/operator/cluster/move',
    ...CLUSTER,
    summary: 'Move a tenant to a node and keep it there',
    body: jsonBody(
      MOVED,
      { tenant: 'acme', node: 'node-3' },
      'The tenant, and the name of a node. With null it is where the cluster places it.',
    ),
    answers: {
      200: answer(MOVED, { description: 'The tenant was given to the node.' }),
      202: answer(MOVED, { description: 'The tenant could not leave yet. It is moved as soon as it can.' }),
    },
  },
  {
    method: 'GET',
    path: '/operator/tenants',
    ...CLUSTER,
    summary: 'List the tenants of all nodes by name',
    params: [query('limit', 'The maximum number.', 100, { ...WHOLE, minimum: 1, maximum: 10_000 }), 'offset', 'cursor'],
    answers: { 200: answer(listOf(record('', LISTED, ['tenant', 'node', 'changes']))) },
  },
]
