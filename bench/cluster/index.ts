/**
 * Measures what a cluster costs against one node in the same run, with PostgreSQL on the same machine. Then it moves
 * tenants from one node to another: `npm run bench -- cluster [seconds] [tenants]`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, startPostgres } from '../../test/cluster/short/postgres.ts'

const [seconds = '5', tenants = '200'] = process.argv.slice(2)
const ROOT = 'root-of-the-bench-0123456789-0123456789'
const TILDE = join(import.meta.dirname, '../../packages/cli/bin/tilde.js')
const CLIENTS = 64
const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })

interface Node {
  readonly child: ChildProcess
  readonly port: number
  readonly data: string
}

async function start(...flags: string[]): Promise<Node> {
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
  await new Promise<void>((ready) => child.stdout!.on('data', (text) => String(text).includes('listens on') && ready()))
  return { child, port, data }
}

async function stop({ child, data }: Node): Promise<void> {
  const ended = new Promise((done) => child.once('exit', done))
  child.kill('SIGTERM')
  await ended
  rmSync(data, { recursive: true, force: true })
}

function send(port: number, method: string, path: string, body?: object): Promise<{ status: number; text: string }> {
  return new Promise((done, failed) => {
    const text = body && JSON.stringify(body)
    const headers = { authorization: `Bearer ${ROOT}`, ...(text && { 'content-type': 'application/json' }) }
    const out = request({ port, method, path, headers, agent }, (answer) => {
      let given = ''
      answer.on('data', (chunk) => {
        given += chunk
      })
      answer.on('end', () => done({ status: answer.statusCode ?? 0, text: given }))
    })
    out.once('error', failed)
    out.end(text)
  })
}

/** Requests a second, and their median in milliseconds, with many clients at once. */
async function measure(one: (i: number) => Promise<{ status: number }>): Promise<{ rate: number; median: number }> {
  const end = performance.now() + Number(seconds) * 1_000
  const times: number[] = []
  let i = 0
  const client = async () => {
    while (performance.now() < end) {
      const begun = performance.now()
      const { status } = await one(i++)
      if (status >= 300) throw new Error(`The answer was ${status}.`)
      times.push(performance.now() - begun)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return { rate: times.length / Number(seconds), median: times.sort((a, b) => a - b)[times.length >> 1]! }
}

let made = 0

async function creates(port: number) {
  return measure(() => {
    const i = ++made
    return send(port, 'POST', '/~bench/Contact', { name: `Person ${i}`, email: `p${i}@x.de`, leadScore: i % 100 })
  })
}

async function reads(port: number) {
  const { text } = await send(port, 'POST', '/~bench/Contact', { name: 'Ada' })
  const path = `/~bench/Contact/${JSON.parse(text).$id}`
  return measure(() => send(port, 'GET', path))
}

function show(name: string, { rate, median }: { rate: number; median: number }, against?: { rate: number }): void {
  const share = against ? `, ${((100 * rate) / against.rate).toFixed(0)} % of one node` : ''
  console.log(`${name}: ${rate.toFixed(0)} a second, median ${median.toFixed(2)} ms${share}`)
}

const postgres = await startPostgres()
const cluster = ['--cluster', postgres.url, '--node-name']
const single = await start()
const one = await start(...cluster, 'n1')
await send(one.port, 'POST', '/operator/tenants', { tenant: 'bench' })
await send(single.port, 'POST', '/~bench/Contact', { name: 'first' })

for (let round = 1; round <= 2; round++) {
  const alone = { creates: await creates(single.port), reads: await reads(single.port) }
  const owner = { creates: await creates(one.port), reads: await reads(one.port) }
  show(`round ${round}, creates, one node`, alone.creates)
  show(`round ${round}, creates, owner in a cluster`, owner.creates, alone.creates)
  show(`round ${round}, reads, one node`, alone.reads)
  show(`round ${round}, reads, owner in a cluster`, owner.reads, alone.reads)
}
const numbers = (await send(one.port, 'GET', '/metrics')).text
const sum = Number(/tilde_cluster_gate_seconds_sum (\S+)/.exec(numbers)?.[1])
const count = Number(/tilde_cluster_gate_seconds_count (\S+)/.exec(numbers)?.[1])
console.log(`gate wait, over all answers: ${((1_000 * sum) / count).toFixed(3)} ms`)
const appends = Number(/tilde_cluster_append_seconds_count (\S+)/.exec(numbers)?.[1])
const appendSum = Number(/tilde_cluster_append_seconds_sum (\S+)/.exec(numbers)?.[1])
console.log(`append: ${((1_000 * appendSum) / appends).toFixed(2)} ms`)
await stop(single)

const two = await start(...cluster, 'n2')
show('reads, passed on by another node', await reads(two.port))
for (let i = 0; i < Number(tenants); i++) {
  await send(one.port, 'POST', '/operator/tenants', { tenant: `t${i}` })
  await send(one.port, 'POST', `/~t${i}/Contact`, { name: 'Ada' })
}
const begun = performance.now()
await send(one.port, 'POST', '/operator/cluster/drain', { node: 'n1' })
for (;;) {
  const { nodes } = JSON.parse((await send(two.port, 'GET', '/operator/cluster')).text)
  if (nodes.find(({ name }: { name: string }) => name === 'n1').tenants === 0) break
  await new Promise((done) => setTimeout(done, 50))
}
console.log(`all tenants of a node (up to ${tenants}) moved in ${((performance.now() - begun) / 1_000).toFixed(1)} s`)
await stop(one)
await stop(two)
await postgres.stop()
agent.destroy()
