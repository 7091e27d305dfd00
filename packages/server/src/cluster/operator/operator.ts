import { Problem } from '@tildebase/nouns'
import { unauthorized } from '../../doors/app.ts'
import { parseBody, parseQuery } from '../../doors/call.ts'
import type { HttpRequest, HttpResponse } from '../../doors/http.ts'
import { operatorDocument } from '../../doors/openapi/operator-document.ts'
import { json, render } from '../../doors/reply.ts'
import { VERSION } from '../../doors/rest/openapi.ts'
import { slugOf } from '../../doors/target.ts'
import type { Sender } from '../../doors/tenant-call.ts'
import { membersOf, parseTenantsRequest } from '../../doors/watch/log-request.ts'
import { operatorRoutes } from '../../host/operator-routes.ts'
import type { TenantFiles } from '../../node/sqlite/files.ts'
import { quotaOf } from '../../node/tenants/tenant-list.ts'
import type { WorkerPool } from '../../node/threads/worker-pool.ts'
import type { ReplicaThread } from '../files/thread.ts'
import type { Membership } from '../protocol/membership.ts'
import type { Ownership } from '../protocol/ownership.ts'
import { ranked } from '../protocol/ranking.ts'
import type { NodeRow, ReplicatedLog } from '../protocol/replicated-log.ts'
import type { Directory } from '../routing/directory.ts'
import type { Forwarder } from '../routing/forward.ts'
import type { ClusterNumbers } from './numbers.ts'
import { clusterRoutes } from './routes.ts'

export interface ClusterPageOptions {
  readonly log: ReplicatedLog
  readonly membership: Membership
  readonly ownership: Ownership
  readonly directory: Directory
  readonly forwarder: Forwarder
  readonly replicas: ReplicaThread
  readonly numbers: ClusterNumbers
  readonly pool: WorkerPool
  readonly files: TenantFiles
  /** The most bytes of a tenant; null means no limit. */
  readonly tenantLimit: number | null
  /** How long the answer to a move waits for it, in milliseconds. */
  readonly patience: number
  /** The tasks of the tenants of this node. */
  readonly ownTasks: () => Promise<readonly object[]>
  /** Gives a tenant of this node to the one that the operator has chosen, or where it belongs. */
  readonly give: (slug: string, pin: string | null) => Promise<boolean>
}

const PAUSE = 20

type Body = { readonly [name: string]: unknown }

/** Answers `/operator/cluster…`, the list of the tenants of all nodes and the document; null for every other path. */
export async function clusterPage(
  request: HttpRequest,
  segments: readonly string[],
  sender: Sender,
  options: ClusterPageOptions,
): Promise<HttpResponse | null> {
  const [, area, action, ...rest] = segments
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const isList = area === 'tenants' && action === undefined && method === 'GET'
  const isDocument = area === 'openapi.json' && action === undefined && method === 'GET'
  if ((area !== 'cluster' && !isList && !isDocument) || rest.length > 0) return null
  if (sender.kind !== 'operator') {
    if (sender.kind === 'anonymous') throw unauthorized()
    throw new Problem('forbidden', 'Only the key of the operator opens this.')
  }
  if (isList) return list(request, options)
  if (action === undefined && method === 'GET') return render(json(200, await status(request, options)))
  if (isDocument) return render(json(200, operatorDocument([...clusterRoutes, ...operatorRoutes], VERSION)))
  if (action === 'openapi.json' && method === 'GET') return render(json(200, operatorDocument(clusterRoutes, VERSION)))
  if (method !== 'POST') throw new Problem('method_not_allowed', `${method} is not possible here.`, { allow: 'POST' })
  const body = parseBody(request.body as Uint8Array | null) as Body
  switch (action) {
    case 'drain':
      return drain(membersOf(body, ['node', 'draining']), options)
    case 'move':
      return move(membersOf(body, ['tenant', 'node']), options)
    // What follows is asked by other nodes.
    case 'give': {
      const given = await options.give(slugOf(text(body, 'tenant')), body.node === null ? null : text(body, 'node'))
      return render(json(200, { given }))
    }
    case 'take':
      return render(json(200, { taken: (await options.ownership.own(slugOf(text(body, 'tenant')))) !== null }))
    case 'tasks':
      return render(json(200, { results: await options.ownTasks() }))
    case 'warm':
      return warm(slugOf(text(body, 'tenant')), options)
    case 'verify': {
      const valid = await options.pool.verify(slugOf(text(body, 'tenant')), text(body, 'secret'))
      return render(json(200, { valid }))
    }
    default:
      throw new Problem('unknown_path', 'There is /operator/cluster with drain and move below it.')
  }
}

/** The nodes with what they own, and where one tenant is when the query names it. */
async function status({ query }: HttpRequest, options: ClusterPageOptions): Promise<object> {
  const { log, membership, ownership, replicas, numbers } = options
  const slug = parseQuery(query).get('tenant') as string | undefined
  const counts = await log.counts()
  const nodes = membership.nodes.map((node) => ({
    name: node.name,
    url: node.url,
    draining: node.draining,
    tenants: counts.get(node.session) ?? 0,
    layout: node.layout,
    isThis: node.session === membership.session,
  }))
  const unowned = [...counts].reduce((sum, [session, count]) => (membership.nodeOf(session) ? sum : sum + count), 0)
  const { sum, count } = numbers.gateSeconds
  const here = {
    node: membership.me?.name ?? null,
    leaseTrusted: membership.isTrusted,
    owned: ownership.all.length,
    pendingChanges: ownership.all.reduce((total, { pending }) => total + pending.length, 0),
    followed: replicas.followed,
    lagChanges: replicas.lag,
    claims: numbers.claims,
    gateMs: count === 0 ? 0 : (sum / count) * 1_000,
  }
  return { nodes, unowned, here, ...(slug !== undefined && { tenant: await whereIs(slugOf(slug), options) }) }
}

async function whereIs(slug: string, { log, membership }: ClusterPageOptions): Promise<object> {
  const [row] = await log.find([slug])
  if (!row) throw noTenant(slug)
  const { epoch, head, snapshot, pin, layout, due } = row
  return { tenant: slug, owner: membership.nodeOf(row.owner)?.name ?? null, epoch, head, snapshot, pin, layout, due }
}

async function list({ query }: HttpRequest, options: ClusterPageOptions): Promise<HttpResponse> {
  const { log, membership, files, tenantLimit } = options
  const { after, offset, limit } = parseTenantsRequest(query)
  const { rows: found, total } = await log.page(after, offset, limit + 1)
  const rows = found.slice(0, limit)
  const hasMore = found.length > limit
  const results = await Promise.all(
    rows.map(async (row) => ({
      tenant: row.slug,
      node: membership.nodeOf(row.owner)?.name ?? null,
      changes: row.head,
      // This node looks at its own files only.
      ...(tenantLimit !== null && (await quotaOf(files.pathOf(row.slug), tenantLimit))),
    })),
  )
  return render(json(200, { results, total, hasMore, cursor: hasMore ? rows.at(-1)!.slug : null }))
}

async function drain(body: Body, { log }: ClusterPageOptions): Promise<HttpResponse> {
  const node = text(body, 'node')
  const { draining = true } = body
  if (typeof draining !== 'boolean')
    throw new Problem('invalid_body', 'draining is true or false.', { field: 'draining' })
  if (!(await log.setDraining(node, draining))) throw noNode(node)
  return render(json(200, { node, draining }))
}

/** Brings the replica of a tenant of another node near the end of the log. */
async function warm(slug: string, { log, ownership, replicas }: ClusterPageOptions): Promise<HttpResponse> {
  const [row] = await log.find([slug])
  if (row && !ownership.gateOf(slug)) await replicas.bring(row)
  return render(json(200, { tenant: slug }))
}

/**
 * Moves a tenant to a node by its name, and keeps it there; null lets it be where it belongs. Only the owner can give it
 * away, so that one is asked. 202 when the tenant has not left within the patience: it is moved later.
 */
async function move(body: Body, options: ClusterPageOptions): Promise<HttpResponse> {
  const { membership, directory, log, patience } = options
  const slug = slugOf(text(body, 'tenant'))
  const node = body.node === null ? null : text(body, 'node')
  if (node !== null && !membership.nodes.some(({ name }) => name === node)) throw noNode(node)
  if (!(await log.setPin(slug, node))) throw noTenant(slug)
  const until = performance.now() + patience
  for (;;) {
    const [row] = await log.find([slug])
    if (!row) throw noTenant(slug)
    const to = ranked(row, membership.nodes)[0]
    const owner = membership.nodeOf(row.owner)
    if (!owner) break
    // Also where it belongs: it may be about to leave for the node that was chosen before.
    const isPlaced = await askToGive(owner, slug, row.pin, options)
    if (isPlaced && owner.session === to?.session) break
    if (performance.now() > until) return render(json(202, { tenant: slug, node }))
    await new Promise((done) => setTimeout(done, PAUSE))
  }
  directory.forget(slug)
  return render(json(200, { tenant: slug, node }))
}

/** Whether the owner has given a tenant away, or keeps it because it belongs there. What fails is asked for again. */
async function askToGive(
  owner: NodeRow,
  slug: string,
  pin: string | null,
  { membership, forwarder, give }: ClusterPageOptions,
): Promise<boolean> {
  try {
    if (owner.session === membership.session) return await give(slug, pin)
    const answer = await forwarder.ask(owner, '/operator/cluster/give', { tenant: slug, node: pin })
    return answer.ok && ((await answer.json()) as { given: boolean }).given
  } catch {
    return false
  }
}

function text(body: Body, name: string): string {
  const value = body?.[name]
  if (typeof value === 'string' && /^[\w.~-]{1,200}$/.test(value)) return value
  throw new Problem('invalid_body', `Send ${name} as a text.`, { field: name })
}

function noTenant(slug: string): Problem {
  return new Problem('not_found', `There is no tenant ${slug}.`, { id: slug })
}

function noNode(name: string): Problem {
  return new Problem('not_found', `There is no node ${name} that is alive.`, { id: name })
}
