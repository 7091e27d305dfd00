import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Host, readSettings, startHost } from '@tildebase/server'
import { ROOT } from '../../host.ts'
import { ROOT as CHECKOUT } from '../machines/checkout.ts'
import { freePort } from './postgres.ts'

/** What all nodes of a test have in common. */
export const SHARED = {
  TILDE_ROOT_KEY: ROOT,
  TILDE_SECRET_KEY: 'secret-of-the-cluster-0123456789-0123456789',
  TILDE_SIGNING_KEY: Buffer.alloc(32, 7).toString('base64'),
  TILDE_BASE_URL: 'http://tilde.test',
  TILDE_CLUSTER_LEASE: '2',
  TILDE_CLUSTER_GRACE: '1',
}

/** A node in its own folder. */
export interface TestNode {
  readonly name: string
  readonly url: string
  readonly data: string
  stop(): Promise<void>
}

/** Starts nodes of a cluster in this process. */
export async function startNodes(
  cluster: string,
  count: number,
  env: Record<string, string> = {},
): Promise<readonly TestNode[]> {
  const nodes: TestNode[] = []
  for (let i = 1; i <= count; i++) nodes.push(await startNode(cluster, `n${i}`, env))
  return nodes
}

export async function startNode(
  cluster: string,
  name: string,
  env: Record<string, string> = {},
  data = mkdtempSync(join(tmpdir(), `tildebase-${name}-`)),
): Promise<TestNode> {
  const flags = { ...flagsOf(cluster, name, await freePort(), data), workers: '1' }
  const host: Host = await startHost(readSettings(flags, { ...SHARED, ...env }))
  const stop = async () => {
    await host.stop()
    rmSync(data, { recursive: true, force: true })
  }
  return { name, url: host.url, data, stop }
}

/** A node in its own process, which can be killed. */
export interface NodeProcess extends TestNode {
  readonly child: ChildProcess
  /** What it has written to standard error. */
  readonly log: () => string
  /** Ends it with a signal; done when it has ended. */
  kill(signal: NodeJS.Signals): Promise<void>
}

/** Starts a node from a checkout of the repository. */
export async function spawnNode(
  cluster: string,
  name: string,
  data = mkdtempSync(join(tmpdir(), `tildebase-${name}-`)),
  checkout = CHECKOUT,
  env: Record<string, string> = {},
): Promise<NodeProcess> {
  const port = await freePort()
  const flags = flagsOf(cluster, name, port, data)
  const args = Object.entries({ ...flags, workers: '1' }).map(([flag, value]) => `--${flag}=${value}`)
  const child = spawn(process.execPath, [join(checkout, 'packages/cli/bin/tilde.js'), 'serve', ...args], {
    env: { ...process.env, ...SHARED, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let written = ''
  child.stderr!.on('data', (text) => {
    written += text
  })
  const ended = new Promise<void>((done) => child.once('exit', () => done()))
  await new Promise<void>((ready, failed) => {
    child.stdout!.on('data', (text) => String(text).includes('listens on') && ready())
    void ended.then(() => failed(new Error(`The node ${name} ended before it was ready.`)))
  })
  const kill = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await ended
  }
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) await kill('SIGKILL')
    rmSync(data, { recursive: true, force: true })
  }
  return { name, url: `http://127.0.0.1:${port}`, data, child, log: () => written, kill, stop }
}

function flagsOf(cluster: string, name: string, port: number, data: string): Record<string, string> {
  return { cluster, 'node-name': name, port: String(port), host: '127.0.0.1', data }
}

/** Sends a request as the operator. */
export async function ask(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  key = ROOT,
): Promise<{ readonly status: number; readonly body: any; readonly headers: Headers }> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...(key && { authorization: `Bearer ${key}` }), 'content-type': 'application/json' },
    ...(body !== undefined && { body: body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body) }),
  })
  const text = await response.text()
  let parsed: unknown = null
  try {
    parsed = JSON.parse(text)
  } catch {
    // Not all answers are JSON.
  }
  return { status: response.status, body: parsed, headers: response.headers }
}

/** Creates a tenant, and returns the node that owns it and one that does not. */
export async function createTenant(
  nodes: readonly TestNode[],
  slug: string,
): Promise<{ readonly owner: TestNode; readonly other: TestNode }> {
  const made = await ask(nodes[0]!.url, 'POST', '/operator/tenants', { tenant: slug })
  if (made.status !== 201) throw new Error(`Creating ${slug} was answered with ${made.status}.`)
  return ownerOf(nodes, slug)
}

export async function ownerOf(
  nodes: readonly TestNode[],
  slug: string,
): Promise<{ readonly owner: TestNode; readonly other: TestNode }> {
  for (const { url } of nodes) {
    const { body } = await ask(url, 'GET', `/operator/cluster?tenant=${slug}`).catch(() => ({ body: null }))
    const name = body?.tenant?.owner
    const owner = nodes.find((node) => node.name === name)
    if (owner) return { owner, other: nodes.find((node) => node !== owner) ?? owner }
  }
  throw new Error(`No node owns ${slug}.`)
}
