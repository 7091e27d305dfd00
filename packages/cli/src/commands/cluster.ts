import type { Call, Command } from '../command.ts'
import { operatorWire } from '../link/link.ts'
import { UsageError } from '../parse/usage-error.ts'

export const command: Command = {
  usage: ['cluster status [TENANT]', 'cluster drain NODE', 'cluster resume NODE', 'cluster move TENANT NODE'].join(
    '\n',
  ),
  summary: "shows the nodes of a cluster, empties a node, and moves tenants; needs the operator's key",
  flags: {},
  examples: [
    'tilde cluster status',
    'tilde cluster status acme',
    'tilde cluster drain node-2',
    'tilde cluster resume node-2',
    'tilde cluster move acme node-3',
    'tilde cluster move acme any',
  ],
  async run(call) {
    const [action = 'status', ...words] = call.words
    const run = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined
    if (!run) throw new UsageError(`cluster has ${Object.keys(ACTIONS).join(', ')}, not ${action}.`)
    await run({ ...call, words })
  },
}

const ACTIONS: { readonly [action: string]: (call: Call) => Promise<void> } = {
  async status({ words, settings, out }) {
    const [tenant, ...more] = words
    if (more.length > 0) throw new UsageError('cluster status takes one tenant at most.')
    const query = tenant === undefined ? '' : `?tenant=${encodeURIComponent(tenant)}`
    const page = await operatorWire(settings).json(`/operator/cluster${query}`)
    if (page.tenant) out.record(page.tenant)
    else out.list(page.nodes, ['name', 'url', 'tenants', 'draining'], page)
  },
  drain: (call) => drain(call, true),
  resume: (call) => drain(call, false),
  async move(call) {
    const [tenant, node, ...more] = call.words
    if (tenant === undefined || node === undefined || more.length > 0)
      throw new UsageError('cluster move takes a tenant and a node, or any for the node that it belongs to.')
    const body = { tenant, node: node === 'any' ? null : node }
    call.out.record(await operatorWire(call.settings).json('/operator/cluster/move', { method: 'POST', body }))
  },
}

async function drain({ words, settings, out }: Call, draining: boolean): Promise<void> {
  const [node, ...more] = words
  if (node === undefined || more.length > 0) throw new UsageError('Name one node.')
  const body = { node, draining }
  out.record(await operatorWire(settings).json('/operator/cluster/drain', { method: 'POST', body }))
}
