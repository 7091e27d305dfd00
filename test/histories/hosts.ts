import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Chance } from '../chance.ts'
import { type NodeProcess, ownerOf, spawnNode } from '../cluster/short/nodes.ts'
import { startPostgres } from '../cluster/short/postgres.ts'
import { type Server, startServer } from '../faults/server.ts'
import { prepareWorkerd, SERVICE } from '../hosts/workerd.ts'
import { insist, type Service } from './service.ts'

/** The service on a host, and what can happen to it. */
export interface TestedHost {
  readonly service: Service
  /** Does something to the host that takes no acknowledged write away. */
  disturb(chance: Chance, tenant: string): Promise<void>
  stop(): Promise<void>
}

/** One process without threads, with two threads of tenants, workerd, and a cluster of three nodes with one PostgreSQL. */
export const HOSTS: { readonly [name: string]: () => Promise<TestedHost> } = {
  Node: () => onNode('0'),
  workers: () => onNode('2'),
  workerd: onWorkerd,
  cluster: onCluster,
}

export async function onNode(workers: string, start: typeof startServer = startServer): Promise<TestedHost> {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-histories-'))
  const run = () => start(data, {}, ['--workers', workers])
  return restarted(run, () => rmSync(data, { recursive: true, force: true }))
}

async function onWorkerd(): Promise<TestedHost> {
  const prepared = await prepareWorkerd(SERVICE)
  const run = async () => {
    const { url, process, end } = await prepared.run()
    return { url, process, kill: () => end('SIGKILL') }
  }
  return restarted(run, prepared.remove)
}

/** A host in one process: kill -9, and a start on the same data. */
async function restarted(run: () => Promise<Server>, remove: () => void): Promise<TestedHost> {
  let server = await run()
  return {
    service: { urls: () => [server.url] },
    async disturb() {
      await server.kill()
      server = await run()
    },
    async stop() {
      await server.kill()
      remove()
    },
  }
}

async function onCluster(): Promise<TestedHost> {
  const postgres = await startPostgres()
  const nodes = await Promise.all(['n1', 'n2', 'n3'].map((name) => spawnNode(postgres.url, name)))
  const service = { urls: () => nodes.map(({ url }) => url) }
  const ownerAt = async (tenant: string) => nodes.indexOf((await ownerOf(nodes, tenant)).owner as NodeProcess)
  const kill = async (tenant: string) => {
    const at = await ownerAt(tenant)
    const { name, data } = nodes[at]!
    await nodes[at]!.kill('SIGKILL')
    nodes[at] = await spawnNode(postgres.url, name, data)
  }
  const hang = async (tenant: string) => {
    const { child } = nodes[await ownerAt(tenant)]!
    child.kill('SIGSTOP')
    // Longer than the lease, so that another node takes the tenant.
    await pause(5_000)
    child.kill('SIGCONT')
  }
  const move = async (tenant: string) => {
    const { name } = nodes[((await ownerAt(tenant)) + 1) % nodes.length]!
    await insist(service, 'POST', '/operator/cluster/move', { tenant, node: name })
  }
  return {
    service,
    async disturb(chance, tenant) {
      await chance.pick([kill, hang, move, async () => postgres.restart()])(tenant)
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()))
      await postgres.stop()
    },
  }
}
