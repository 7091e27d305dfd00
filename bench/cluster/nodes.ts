import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../test/cluster/short/postgres.ts'

const ROOT = 'root-of-the-bench-0123456789-0123456789'
const TILDE = join(import.meta.dirname, '../../packages/cli/bin/tilde.js')

/** Clients that send requests at the same time. */
export const CLIENTS = 64
const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })

/** A host in its own process and folder. */
export interface Node {
  readonly child: ChildProcess
  readonly port: number
  readonly data: string
}

/** Starts a host; `flags` make it a node of a cluster. */
export async function start(...flags: string[]): Promise<Node> {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-bench-'))
  const port = await freePort()
  const args = ['serve', '--port', String(port), '--data', data, '--workers', '1', ...flags]
  const child = spawn(process.execPath, ['--max-semi-space-size=16', TILDE, ...args], {
    env: {
      ...process.env,
      TILDE_ROOT_KEY: ROOT,
      TILDE_SECRET_KEY: ROOT,
      TILDE_SIGNING_KEY: Buffer.alloc(32, 1).toString('base64'),
      TILDE_BASE_URL: 'http://bench.test',
      TILDE_CLUSTER_GRACE: '0',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await new Promise<void>((ready, failed) => {
    child.stdout!.on('data', (text) => String(text).includes('listens on') && ready())
    child.once('exit', (status) => failed(new Error(`A node ended with ${status}.`)))
  })
  return { child, port, data }
}

export async function stop({ child, data }: Node, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = new Promise((done) => child.once('exit', done))
    child.kill(signal)
    await ended
  }
  rmSync(data, { recursive: true, force: true })
}

export interface Reply {
  readonly status: number
  readonly text: string
}

/** One request as the operator. */
export function send(port: number, method: string, path: string, body?: object): Promise<Reply> {
  return new Promise((done, failed) => {
    const text = body && JSON.stringify(body)
    const headers = { authorization: `Bearer ${ROOT}`, ...(text && { 'content-type': 'application/json' }) }
    const out = request({ port, method, path, headers, agent }, (answer) => {
      let given = ''
      answer.on('data', (chunk) => {
        given += chunk
      })
      answer.on('end', () => done({ status: answer.statusCode ?? 0, text: given }))
      answer.on('error', failed)
    })
    out.once('error', failed)
    out.end(text)
  })
}

/** The name of the node that owns a tenant. */
export async function ownerOf(port: number, tenant: string): Promise<string> {
  return JSON.parse((await send(port, 'GET', `/operator/cluster?tenant=${tenant}`)).text).tenant.owner
}

/** One of the numbers of a node. */
export async function numberOf(port: number, name: string): Promise<number> {
  const { text } = await send(port, 'GET', '/metrics')
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1])
}

/** Ends the connections of this process. */
export function disconnect(): void {
  agent.destroy()
}
